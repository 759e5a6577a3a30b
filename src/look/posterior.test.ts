import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { accuracyOf, posteriorOfMostAlive, type Accuracy } from "./posterior.ts";

/** The definition on a fine grid over the share, with the prior mass of each cell at its midpoint. */
function onGrid(alive: number, asked: number, { sensitivity, specificity }: Accuracy): number {
  const cells = 20_000;
  let [upper, all] = [0, 0];
  const priorBelow = (share: number): number => (2 / Math.PI) * Math.asin(Math.sqrt(share));
  for (let cell = 0; cell < cells; cell++) {
    const share = (cell + 0.5) / cells;
    const shown = share * sensitivity + (1 - share) * (1 - specificity);
    const mass = priorBelow((cell + 1) / cells) - priorBelow(cell / cells);
    const value = mass * Math.exp(alive * Math.log(shown) + (asked - alive) * Math.log(1 - shown));
    all += value;
    if (share > 0.5) upper += value;
  }
  return upper / all;
}

const exact = { sensitivity: 0.95, specificity: 0.97 };

describe("posteriorOfMostAlive", () => {
  it("is what a fine grid over the share gives", () => {
    const accuracy = fc.double({ min: 0.55, max: 0.99, noNaN: true });
    const counts = fc.integer({ min: 1, max: 64 }).chain((asked) => fc.tuple(fc.nat(asked), fc.constant(asked)));
    fc.assert(
      fc.property(counts, accuracy, accuracy, ([alive, asked], sensitivity, specificity) => {
        const found = posteriorOfMostAlive(alive, asked, { sensitivity, specificity });

        expect(found).toBeCloseTo(onGrid(alive, asked, { sensitivity, specificity }), 6);
      }),
      { numRuns: 60 },
    );
  });

  it("is one half when nothing was asked", () => {
    expect(posteriorOfMostAlive(0, 0, exact)).toBe(0.5);
  });
});

describe("accuracyOf", () => {
  it("is the share of right controls, with half of one more on each side", () => {
    const found = accuracyOf({ asked: 20, alive: 19 }, { asked: 20, alive: 1 });

    expect(found.sensitivity).toBeCloseTo(19.5 / 21, 12);
    expect(found.specificity).toBeCloseTo(1 - 1.5 / 21, 12);
  });

  it("is a careful guess with fewer than ten controls of a kind", () => {
    expect(accuracyOf({ asked: 9, alive: 9 }, { asked: 9, alive: 0 })).toStrictEqual({
      sensitivity: 0.8,
      specificity: 0.9,
    });
  });
});
