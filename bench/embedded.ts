import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createSystemClock, hourMs } from "../src/base/time.ts";
import { openStore } from "../src/store/open.ts";
import type { Benchmark, Side } from "./benchmark.ts";
import { blackbox, concurrency } from "./blackbox.ts";
import { everySecond, measureDaemon } from "./daemon.ts";

const organizations = 2_000;
const eventsEach = 100;
const organizationsAtOnce = 100;

/** Deaths of the last 200 hours, one every two hours and for each organization. */
async function fillStore(path: string, count: number): Promise<void> {
  const clock = createSystemClock();
  const store = await openStore({ path, clock });
  const nowMs = clock.nowMs();
  for (let start = 0; start < count; start += organizationsAtOnce) {
    const events = Array.from({ length: organizationsAtOnce }, (_, index) => `org-${start + index}`).flatMap((slug) =>
      Array.from({ length: eventsEach }, (_, event) => ({
        slug,
        atMs: nowMs - (2 * event + 1) * hourMs,
        assetType: "URL",
        asset: null,
        status: "DETECTED_AS_DEAD",
        id: null,
        count: 1,
      })),
    );
    await store.transaction((parts) => parts.events.add(events));
  }
  await store.close();
}

/** The real daemon over a store of its own, which it evaluates itself. */
const flatline: Side = {
  name: "flatline, embedded",
  kind: "flatline",
  start: async ({ quick }) => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
    const filled = join(folder, "filled.db");
    const count = quick ? organizationsAtOnce : organizations;
    await fillStore(filled, count);
    const config = `source: { type: embedded, concurrency: ${concurrency} }\n${everySecond(count)}`;
    const prepare = (daemonFolder: string): Promise<void> => copyFile(filled, join(daemonFolder, "flatline.db"));
    return {
      measure: () => measureDaemon({ config, prepare, quick }),
      stop: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

/** Row 3 of docs/performance.md. */
export const benchmark: Benchmark = {
  name: "embedded",
  title: "Embedded checks per CPU second: scheduled, counted, evaluated, verdict stored, alert decided, series updated",
  metrics: [{ name: "checks", title: "checks", unit: "per CPU second", better: "more" }],
  sides: [flatline, blackbox("keep-alive")],
  goals: [
    {
      title: "embedded checks",
      of: { side: "flatline, embedded" },
      by: { side: "blackbox_exporter, keep-alive" },
      bound: "at least",
      goal: 50,
      moonshot: 200,
    },
  ],
};
