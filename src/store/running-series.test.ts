import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { RunningSeries } from "./running-series.ts";

// Few minutes, so that they meet; one is beyond 31 bits, as in the year 9999.
const minute = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constant(4_223_371_679));
const batch = fc.dictionary(minute.map(String), fc.constantFrom(1, 3, 1_000_000_000, 4_294_967_295), { maxKeys: 8 });
const step = fc.oneof(
  { weight: 4, arbitrary: batch.map((cells) => ({ kind: "add" as const, cells })) },
  { weight: 1, arbitrary: minute.map((before) => ({ kind: "drop" as const, before })) },
);

function deathsFrom(series: RunningSeries, from: number, to: number): number {
  return series.sumBefore(series.placeOf(to)) - series.sumBefore(series.placeOf(from));
}

describe("a running series", () => {
  it("counts what was added between two minutes, late or in order, and nothing of what was dropped", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), minute, minute, (steps, a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const series = new RunningSeries();
        const model = new Map<number, number>();
        for (const one of steps) {
          if (one.kind === "drop") {
            series.dropBefore(one.before);
            for (const known of model.keys()) if (known < one.before) model.delete(known);
            continue;
          }
          const cells = Object.entries(one.cells).map(([key, deaths]) => [Number(key), deaths] as const);
          cells.sort(([x], [y]) => x - y);
          series.add(
            cells.map(([at]) => at),
            cells.map(([, deaths]) => deaths),
          );
          for (const [at, deaths] of cells) model.set(at, (model.get(at) ?? 0) + deaths);
        }

        let expected = 0;
        for (const [at, deaths] of model) if (at >= from && at < to) expected += deaths;
        expect(deathsFrom(series, from, to)).toBe(expected);
        expect(series.cells).toBe(model.size);
        expect(series.isAt(series.placeOf(from), from)).toBe(model.has(from));
      }),
    );
  });

  it("takes 8 bytes a minute with some room, and gives back what pruning leaves empty", () => {
    const series = new RunningSeries();
    const minutes = Array.from({ length: 10_000 }, (_, index) => index);

    for (const one of minutes) series.add([one], [1]);

    expect(series.bytes).toBeLessThan(8 * 10_000 * 1.2);
    series.dropBefore(9_000);
    expect(series.bytes).toBeLessThan(8 * 1_000 * 1.2);
    expect(deathsFrom(series, 9_000, 10_000)).toBe(1_000);
  });
});
