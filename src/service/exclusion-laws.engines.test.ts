import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createWorldOn, death } from "../../test/support/store/event-store.ts";
import { storeEngines } from "../../test/support/store/engines.ts";
import { dayMs, hourMs, minuteMs } from "../base/time.ts";
import type { JudgedStretch } from "../contract/judgement.ts";
import { evaluateLocally, type LocalEvaluation } from "./local-evaluation.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const windowHours = 24;
const baselineDays = 7;
const windowStartMs = nowMs - windowHours * hourMs;
const baselineStartMs = windowStartMs - baselineDays * dayMs;

const someEvents = fc.array(
  fc
    .record({
      atMs: fc.integer({ min: -10 * 24 * 60, max: 60 }).map((minutes) => nowMs + minutes * minuteMs),
      assetType: fc.constantFrom("URL", "EMAIL", null),
      count: fc.constantFrom(1, 1, 7, 40),
      slug: fc.constantFrom("acme", "acme", "globex"),
    })
    .map(({ atMs, slug, ...rest }) => death(atMs, slug, rest)),
  { maxLength: 40 },
);
const someStretches = fc.array(
  fc
    .tuple(fc.integer({ min: -300, max: 20 }), fc.integer({ min: 0, max: 40 }), fc.integer({ min: -48, max: 48 }))
    .map(([from, length, judged]): JudgedStretch => {
      const fromMs = nowMs + from * hourMs;
      return { fromMs, toMs: fromMs + length * hourMs, judgedAtMs: nowMs + judged * hourMs };
    }),
  { maxLength: 4 },
);
const kinds = fc.constantFrom("mean", "median");

function evaluation(baseline: "mean" | "median", stretches?: readonly JudgedStretch[]): LocalEvaluation {
  const thresholds = { windowHours, baselineDays, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 };
  return { slug: "acme", thresholds, baseline, appUrl: null, nowMs, ...(stretches === undefined ? {} : { stretches }) };
}

/** Whether it cannot leave any baseline of this evaluation: before it, after it, or judged later. */
function isOutside({ fromMs, toMs, judgedAtMs }: JudgedStretch): boolean {
  // A median's days are those of a window of 24 h: together they are the baseline.
  return judgedAtMs > nowMs || fromMs >= windowStartMs + minuteMs || (toMs ?? nowMs) < baselineStartMs - minuteMs;
}

describe.each(storeEngines)("on $engine, a baseline without judged incidents", (engine) => {
  const runs = { numRuns: engine.engine === "SQLite" ? 25 : 4 };

  it("is the whole one where nothing of it is judged, but for saying so", async () => {
    await fc.assert(
      fc.asyncProperty(someEvents, someStretches, kinds, async (events, stretches, baseline) => {
        await using world = await createWorldOn(engine);
        await world.store.events.add(events);
        const plain = await evaluateLocally(evaluation(baseline), world.store.events);

        const outside = await evaluateLocally(evaluation(baseline, stretches.filter(isOutside)), world.store.events);

        expect(outside).toEqual({
          ...plain,
          observed: { ...plain.observed, baselineExclusion: "none" },
          threshold: { ...plain.threshold, baselineExcludedHours: 0 },
        });
      }),
      runs,
    );
  });

  it("is the same in whatever order events and judgements come, and whatever another organization did", async () => {
    await fc.assert(
      fc.asyncProperty(
        someEvents.chain((events) =>
          fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })),
        ),
        someStretches,
        kinds,
        async ([events, shuffled], stretches, baseline) => {
          await using one = await createWorldOn(engine);
          await using other = await createWorldOn(engine);
          await one.store.events.add(events);
          await other.store.events.add(shuffled.filter(({ slug }) => slug === "acme"));

          const found = await evaluateLocally(evaluation(baseline, stretches), one.store.events);

          expect(await evaluateLocally(evaluation(baseline, stretches.toReversed()), other.store.events)).toEqual(
            found,
          );
        },
      ),
      runs,
    );
  });
});
