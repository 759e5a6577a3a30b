import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { RunningSums } from "./running-sums.ts";

// Few minutes, so that they meet; one is beyond 31 bits, as in the year 9999.
const minute = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant(4_223_371_679));
const types = 3;
const cell = fc.record({
  minute,
  type: fc.integer({ min: 0, max: types - 1 }),
  deaths: fc.constantFrom(1, 3, 16_777_215, 1_000_000_000, 4_294_967_296),
});
const batch = fc
  .uniqueArray(cell, { selector: (one) => `${one.minute} ${one.type}`, maxLength: 60 })
  .map((cells) => cells.toSorted((a, b) => a.minute - b.minute || a.type - b.type));
const step = fc.oneof(
  { weight: 4, arbitrary: batch.map((cells) => ({ kind: "add" as const, cells })) },
  { weight: 1, arbitrary: minute.map((before) => ({ kind: "drop" as const, before })) },
);

function deathsOf(sums: RunningSums, from: number, to: number): number[] {
  const scratch = new Float64Array(2 * sums.types);
  sums.before(from, scratch, 0);
  sums.before(to, scratch, sums.types);
  return Array.from({ length: sums.types }, (_, type) => (scratch[sums.types + type] ?? 0) - (scratch[type] ?? 0));
}

describe("running sums", () => {
  it("count what was added between two minutes, late or in order, and nothing of what was dropped", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), minute, minute, (steps, a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const sums = new RunningSums();
        const model = new Map<string, { minute: number; type: number; deaths: number }>();
        for (const one of steps) {
          if (one.kind === "drop") {
            sums.dropBefore(one.before);
            for (const [key, known] of model) if (known.minute < one.before) model.delete(key);
            continue;
          }
          sums.add(one.cells);
          for (const added of one.cells) {
            const key = `${added.minute} ${added.type}`;
            model.set(key, { ...added, deaths: added.deaths + (model.get(key)?.deaths ?? 0) });
          }
        }

        const expected = Array.from({ length: sums.types }, () => 0);
        for (const known of model.values()) {
          if (known.minute >= from && known.minute < to)
            expected[known.type] = (expected[known.type] ?? 0) + known.deaths;
        }
        expect(deathsOf(sums, from, to)).toEqual(expected);
        expect(sums.cells).toBe(model.size);
        const hasFrom = [...model.values()].some((known) => known.minute === from);
        expect(sums.before(from, new Float64Array(types), 0)).toBe(hasFrom);
      }),
    );
  });

  it("take 8 bytes a cell and some for each type, and give back what pruning leaves empty", () => {
    const sums = new RunningSums();

    for (let one = 0; one < 10_000; one++) sums.add([{ minute: one, type: one % 6, deaths: 1 }]);

    const bytesACell = 8 + 4 / 32 + (6 * 8) / 32;
    expect(sums.bytes).toBeLessThan(bytesACell * 10_000 * 1.2);
    sums.dropBefore(9_000);
    expect(sums.bytes).toBeLessThan(bytesACell * 1_000 * 1.2);
    expect(deathsOf(sums, 9_000, 10_000).reduce((sum, count) => sum + count, 0)).toBe(1_000);
  });
});
