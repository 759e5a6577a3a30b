import { join } from "node:path";

import { createSystemClock, dayMs, hourMs } from "../src/base/time.ts";
import { openStore } from "../src/store/open.ts";
import type { Benchmark, Side } from "./harness/benchmark.ts";
import { everySecond, measureChecks } from "./processes.ts";
import { blackbox, concurrency } from "./remote/blackbox.ts";

const organizations = 5_000;
// A round takes some milliseconds of processor time, which Linux says in ticks of ten.
const durationMs = 10_000;
const eventsEach = 100;
// Evenly over more than a week: what is within the window is no spike against what was before it.
const spanMs = 200 * hourMs;

/** The real daemon over a store of its own, which it evaluates itself. */
const flatline: Side = {
  name: "flatline",
  start: async (quick) => {
    const count = quick ? 100 : organizations;
    const config = `source: { type: embedded, concurrency: ${concurrency} }\n${everySecond(count)}`;
    const prepare = (folder: string): Promise<void> => fillStore(join(folder, "flatline.db"), count);
    return Promise.resolve(() => measureChecks({ config, prepare, quick, durationMs }));
  },
};

/**
 * A store of a fleet that has run for a while. A new one would evaluate its past in the background, beside the checks.
 */
async function fillStore(path: string, count: number): Promise<void> {
  const clock = createSystemClock();
  const store = await openStore({ path, clock });
  const nowMs = clock.nowMs();
  const slugs = Array.from({ length: count }, (_, index) => `org-${index}`);
  const death = { assetType: "URL", asset: null, status: "DETECTED_AS_DEAD", id: null, count: 1 };
  const instants = Array.from(
    { length: eventsEach },
    (_, index) => nowMs - Math.floor(((index + 0.5) / eventsEach) * spanMs),
  );
  await store.transaction(({ events }) =>
    events.add(slugs.flatMap((slug) => instants.map((atMs) => ({ ...death, slug, atMs })))),
  );
  const atMs = nowMs - 8 * dayMs;
  for (const slug of slugs)
    await store.runs.addPast("dead-asset-spike", slug, [{ atMs, severity: "ok", currentCount: 0, expectedCount: 0 }]);
  await store.close();
}

/** The row of docs/comparison.md about stored events. */
export const benchmark: Benchmark = {
  name: "embedded",
  title: "Embedded checks per CPU second: scheduled, counted, evaluated, verdict stored, alert decided, series updated",
  metrics: [{ name: "checks", title: "checks", unit: "per CPU second", better: "more" }],
  sides: [flatline, blackbox],
  repetitions: 3,
  goals: [
    {
      title: "checks of stored events per CPU second",
      metric: "checks",
      peer: blackbox.name,
      bound: "at least",
      goal: 8,
    },
  ],
};
