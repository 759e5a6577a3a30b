import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createWorldOn, death } from "../../../test/support/store/event-store.ts";
import { countingEngines } from "../../../test/support/store/engines.ts";
import { isLong } from "../../../test/support/tier.ts";
import { hourMs } from "../../base/time.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import { evaluateLocally } from "../../service/local-evaluation.ts";
import {
  countEvents,
  countKinds,
  defaultThresholds,
  evaluateSpike,
  medianDays,
  spikeWindow,
} from "../../spike/spike.ts";
import type { CountKind } from "../../spike/findings.ts";
import type { LivenessEvent } from "./events.ts";

const record = fileURLToPath(new URL("../../../examples/records/riskhosts.csv.gz", import.meta.url));
const nowMs = Date.UTC(2026, 0, 15, 12);
// Few instants, so that events lie on the bounds of intervals.
const instant = fc.integer({ min: -8, max: 1 }).map((hours) => nowMs + hours * hourMs);

/** Few names, so that assets die again, in another type, and without one. */
const someEvents = fc.array(
  fc
    .record({
      atMs: instant,
      slug: fc.constantFrom("acme", "acme", "globex"),
      assetType: fc.constantFrom("PAGE", "URL", null),
      asset: fc.constantFrom("a", "b", "É", null),
      status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "CHECKED"),
      count: fc.constantFrom(0, 1, 1, 7),
    })
    .map(({ atMs, slug, ...rest }) => death(atMs, slug, rest)),
  { maxLength: 60 },
);
const someQueries = fc.array(
  fc.record({
    slug: fc.constantFrom("acme", "globex", "nobody"),
    intervals: fc.array(
      fc.tuple(instant, instant).map(([afterMs, untilMs]): Interval => ({ afterMs, untilMs })),
      { maxLength: 4 },
    ),
    count: fc.constantFrom(...countKinds),
  }),
  { maxLength: 4 },
);

/** The numbers by type and interval, one event after the other. */
function countOneByOne(
  events: readonly LivenessEvent[],
  { slug, intervals, count }: { slug: string; intervals: readonly Interval[]; count: CountKind },
): Record<string, readonly number[]> {
  const types = [...new Set(events.map(({ assetType }) => assetType))];
  const counts = types.map((assetType) => {
    const deaths = intervals.map(({ afterMs, untilMs }) => {
      const seen = new Set<string>();
      let sum = 0;
      for (const event of events) {
        if (event.slug !== slug || event.assetType !== assetType || event.status !== "DETECTED_AS_DEAD") continue;
        if (event.atMs <= afterMs || event.atMs > untilMs || event.count === 0) continue;
        if (count === "assets" && event.asset !== null) seen.add(event.asset);
        else sum += event.count;
      }
      return sum + seen.size;
    });
    return [String(assetType), deaths] as const;
  });
  return Object.fromEntries(counts.filter(([, deaths]) => deaths.some((number) => number > 0)));
}

describe.each(countingEngines)("on $engine, deaths and the assets that died", (engine) => {
  it("are those of counting one event after the other", async () => {
    await fc.assert(
      fc.asyncProperty(someEvents, someQueries, async (events, queries) => {
        await using world = await createWorldOn(engine);
        await world.store.events.add(events);
        const byName = (types: readonly { assetType: string | null; deaths: readonly number[] }[]) =>
          Object.fromEntries(types.map(({ assetType, deaths }) => [String(assetType), deaths]));

        const found = await world.store.events.deaths(queries);

        expect(found.map(byName)).toEqual(queries.map((query) => countOneByOne(events, query)));
      }),
      { numRuns: isLong ? 50 : 8 },
    );
  });

  it("give the verdicts of one event after the other over a real record", async () => {
    await using world = await createWorldOn(engine);
    await world.import([record]);
    const [, ...lines] = gunzipSync(readFileSync(record)).toString().trim().split("\n");
    const events = lines.map((line) => {
      const [at = "", , assetType, asset, status = ""] = line.split(",");
      return { atMs: Date.parse(at), assetType: assetType ?? null, asset: asset ?? null, status };
    });
    const firstEventAtMs = Math.min(...events.map(({ atMs }) => atMs));
    const verdicts = new Set<string>();

    for (let nowAtMs = Date.UTC(2019, 8, 20, 5); nowAtMs < Date.UTC(2019, 10, 20); nowAtMs += 90 * hourMs) {
      for (const windowHours of [6, 24, 96]) {
        const thresholds = { ...defaultThresholds, windowHours, baselineDays: 14 };
        const rule = { slug: "riskhosts", thresholds, baseline: "median", count: "assets", nowMs: nowAtMs } as const;
        const window = spikeWindow(nowAtMs, thresholds);
        const counts = countEvents(events, window, medianDays(nowAtMs, thresholds), "assets");

        const found = await evaluateLocally({ ...rule, appUrl: null }, world.store.events);

        expect(found).toEqual(evaluateSpike({ ...rule, ...counts, firstEventAtMs }));
        verdicts.add(found.severity);
      }
    }
    expect([...verdicts].toSorted()).toEqual(["fail", "ok", "warn"]);
  });
});
