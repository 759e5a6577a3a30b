import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createFamilyRows } from "./family-rows.ts";

describe("the rows of a family", () => {
  it("are after any writes what was last written of each target, in order of targets", () => {
    const writes = fc.array(
      fc.tuple(
        fc.integer({ min: 0, max: 400 }),
        fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.constant("")),
      ),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(writes, (writes) => {
        const rows = createFamilyRows();
        const expected = new Map<number, string>();

        for (const [target, lines] of writes) {
          rows.write(target, lines);
          expected.set(target, lines);
        }

        const inOrder = [...expected].toSorted(([left], [right]) => left - right).map(([, lines]) => lines);
        expect(Buffer.concat(rows.blocks()).toString()).toBe(inOrder.join(""));
        for (const [target, lines] of expected) expect(rows.read(target)).toBe(lines);
      }),
    );
  });

  it("have another end where only that was written", () => {
    const rows = createFamilyRows();
    for (const target of [0, 1, 2]) rows.write(target, `é${target} 1.000\n`);
    const before = rows.revision("text");

    rows.writeTail(1, "2.500\n");

    expect([0, 1, 2].map((target) => rows.read(target))).toEqual(["é0 1.000\n", "é1 2.500\n", "é2 1.000\n"]);
    expect(rows.revision("text")).not.toBe(before);
  });

  it.each([
    { rule: "other lines of the same length are another revision", lines: "a 2\n", isSame: false },
    { rule: "longer lines are another revision", lines: "a 10\n", isSame: false },
    { rule: "no lines any more are another revision", lines: "", isSame: false },
    { rule: "the same lines are the same revision", lines: "a 1\n", isSame: true },
  ])("$rule", ({ lines, isSame }) => {
    const rows = createFamilyRows();
    rows.write(3, "a 1\n");
    const before = rows.revision("text");

    rows.write(3, lines);

    expect(rows.revision("text") === before).toBe(isSame);
    expect(rows.revision("text")).not.toBe(rows.revision("openmetrics"));
  });
});
