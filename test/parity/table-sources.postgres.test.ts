import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../../src/base/time.ts";
import type { LivenessCounts } from "../../src/contract/liveness-counts.ts";
import { evaluateRound } from "../../src/service/local-evaluation.ts";
import { apiRule } from "../../src/spike/evaluate.ts";
import type { Store } from "../../src/store/store.ts";
import { readGoldens, readRecordEvents, type TableEvent } from "../support/store/record-events.ts";
import { engineNamed } from "../support/store/engines.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { epochColumns, ownNames, tableEngines, type SourceChange, type TableEngine } from "./table-engines.ts";
import { isLong } from "../support/tier.ts";

const nowMs = Date.parse("2026-03-01T12:34:56.789Z");
const clock = createVirtualClock({ startMs: nowMs });

/** The same over flatline's own store, which is what all others are measured by. */
async function withStore<Result>(
  events: readonly TableEvent[],
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const { store, close } = await engineNamed("SQLite").openTemporary(clock);
  try {
    const stored = events.map((event) => ({ ...event, asset: null, id: null }));
    for (let from = 0; from < stored.length; from += 5_000)
      await store.transaction((parts) => parts.events.add(stored.slice(from, from + 5_000)));
    return await work(store);
  } finally {
    await close();
  }
}

const slugs = ["acme", 'o\'Neil \\ "quoted" `tick`', "Ünï {slugs:String} :from", "tab\tand\nline"];
const eventArbitrary = fc.record({
  slug: fc.constantFrom(...slugs),
  // Around the edges of windows and minutes, and anywhere.
  atMs: fc.oneof(
    fc.integer({ min: nowMs - 20 * 24 * hourMs, max: nowMs + hourMs }),
    fc.integer({ min: 0, max: 300 }).map((hours) => nowMs - hours * hourMs),
    fc
      .tuple(fc.integer({ min: 0, max: 300 }), fc.constantFrom(-1, 1))
      .map(([hours, off]) => nowMs - hours * hourMs + off),
  ),
  assetType: fc.constantFrom("URL", "EMAIL", "it's", null),
  status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE"),
  count: fc.integer({ min: 0, max: 40 }),
});
const evaluationArbitrary = fc.record({
  slug: fc.constantFrom(...slugs, "nobody"),
  baseline: fc.constantFrom("mean" as const, "median" as const),
  lateMs: fc.integer({ min: 0, max: 3 * minuteMs }),
  thresholds: fc.record({
    windowHours: fc.integer({ min: 1, max: 30 }),
    baselineDays: fc.integer({ min: 1, max: 9 }),
    warnMultiplier: fc.constantFrom(1.1, 2),
    failMultiplier: fc.constantFrom(1.5, 4),
    minSpikeCount: fc.integer({ min: 1, max: 30 }),
  }),
});

for (const { name, note, start, isMissing } of tableEngines) {
  describe.skipIf(isMissing)(`a table in ${name} ${note}`, () => {
    let engine: TableEngine;
    beforeAll(async () => {
      engine = await start();
    });
    afterAll(() => engine.close());

    const variants: readonly { readonly rule: string; readonly change: SourceChange }[] = [
      { rule: "by its columns", change: {} },
      ...(["seconds", "milliseconds", "microseconds"] as const).map((timeUnit) => ({
        rule: `with times in ${timeUnit}`,
        change: { timeUnit, events: { ...ownNames, columns: { ...ownNames.columns, at: epochColumns[timeUnit] } } },
      })),
      {
        rule: "with times without a zone, in UTC",
        change: { events: { ...ownNames, columns: { ...ownNames.columns, at: "local" } } },
      },
    ];

    it.each(variants)(
      "answers random questions as flatline's own store does, $rule",
      { timeout: 120_000 },
      async ({ change }) => {
        const isSeconds = change.timeUnit === "seconds";
        await fc.assert(
          fc.asyncProperty(
            fc.array(eventArbitrary, { maxLength: 60 }),
            fc.array(evaluationArbitrary, { minLength: 1, maxLength: 8 }),
            async (random, evaluations) => {
              const events = random.map((event) =>
                isSeconds ? { ...event, atMs: Math.floor(event.atMs / 1_000) * 1_000 } : event,
              );
              await engine.replace(events);
              const counts = engine.counts(change);
              const asked = evaluations.map(({ slug, baseline, lateMs, thresholds }) => ({
                ...apiRule,
                slug,
                baseline,
                thresholds,
                appUrl: null,
                nowMs: nowMs + lateMs,
              }));
              const askAll = async (from: LivenessCounts) => {
                const first = await from.firstEvents([...slugs, "nobody"]);
                return [await evaluateRound(asked, from), slugs.map((slug) => first?.get(slug) ?? null)];
              };

              try {
                expect(await askAll(counts)).toEqual(await withStore(events, (store) => askAll(store.events)));
              } finally {
                await counts.close();
              }
            },
          ),
          { numRuns: isLong ? 60 : 3 },
        );
      },
    );

    it("gives the 180 verdicts of real data, all by one query", async () => {
      await engine.replace(readRecordEvents());
      const codes: string[] = [];
      const counts = engine.counts({}, codes);
      const goldens = readGoldens();

      const results = await evaluateRound(
        goldens.map(({ slug, at, windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount }) => {
          const thresholds = { windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount };
          return { ...apiRule, slug, thresholds, appUrl: null, nowMs: Date.parse(at) };
        }),
        counts,
      );

      expect(results).toMatchObject(
        goldens.map(({ severity, currentCount, baselineCount, expectedCount }) => ({
          result: { severity, observed: { currentCount, baselineCount, expectedCount } },
        })),
      );
      expect(codes).toEqual(["count_deaths ok"]);
      await counts.close();
    });
  });
}
