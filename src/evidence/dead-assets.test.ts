import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { DeadAssetLedger, type AssetLook } from "./dead-assets.ts";

interface Look extends AssetLook {
  readonly type: string;
}

const deaths = { afterMs: 10, untilMs: 20 };

function list(looks: readonly Look[]): { key: string; atMs: number; revivedAtMs: number | null }[] {
  const ledger = new DeadAssetLedger<Look>({ deaths, kindOf: ({ type }) => type, mostAssets: 1_000 });
  for (const look of looks.toSorted((left, right) => left.atMs - right.atMs)) ledger.add(look);
  return ledger
    .assets()
    .map(({ death, revivedAtMs }) => ({ key: `${death.type} ${death.asset}`, atMs: death.atMs, revivedAtMs }))
    .toSorted((left, right) => (left.key < right.key ? -1 : 1));
}

const look = fc.record({
  asset: fc.constantFrom("a", "b", "c"),
  type: fc.constantFrom("URL", "EMAIL"),
  atMs: fc.integer({ min: 8, max: 26 }),
  isDeath: fc.boolean(),
  count: fc.constantFrom(1, 1, 3, 0),
});

describe("the assets that died in an interval", () => {
  it.each([
    { rule: "are there once, with the last death", looks: [dead(12), dead(15)], are: [[15, null]] },
    { rule: "are not those that died before or after it", looks: [dead(10), dead(21)], are: [] },
    { rule: "are those of its end", looks: [dead(20)], are: [[20, null]] },
    {
      rule: "have when they were found alive first after it",
      looks: [dead(12), alive(13), alive(14)],
      are: [[12, 13]],
    },
    { rule: "may be found alive after its end", looks: [dead(12), alive(25)], are: [[12, 25]] },
    { rule: "are dead again after another death", looks: [dead(12), alive(13), dead(14)], are: [[14, null]] },
    { rule: "are not undone at the instant of the death", looks: [alive(12), dead(12), alive(12)], are: [[12, null]] },
    { rule: "are not those of a count of none", looks: [{ ...dead(12), count: 0 }], are: [] },
    {
      rule: "are apart where their types are, and alive by their name",
      looks: [dead(12), { ...dead(13), type: "EMAIL" }, alive(14)],
      are: [
        [13, 14],
        [12, 14],
      ],
    },
  ])("$rule", ({ looks, are }) => {
    expect(list(looks).map(({ atMs, revivedAtMs }) => [atMs, revivedAtMs])).toEqual(are);
  });

  it("are the same one by one, and in whatever order the events came", () => {
    fc.assert(
      fc.property(
        fc.array(look, { maxLength: 30 }).chain((looks) =>
          fc.record({
            looks: fc.constant(looks),
            other: fc.shuffledSubarray(looks, { minLength: looks.length, maxLength: looks.length }),
          }),
        ),
        ({ looks, other }) => {
          expect(list(looks)).toEqual(oneByOne(looks));
          expect(list(other)).toEqual(oneByOne(looks));
        },
      ),
    );
  });

  it("that are still dead are those with no look after their death that found them alive", () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 30 }), (looks) => {
        for (const { key, atMs, revivedAtMs } of list(looks)) {
          const asset = key.split(" ")[1];
          const isAlive = looks.some((one) => !one.isDeath && one.asset === asset && one.atMs > atMs);
          expect(revivedAtMs !== null).toBe(isAlive);
        }
      }),
    );
  });

  it("are given up when they are too many", () => {
    const ledger = new DeadAssetLedger<Look>({ deaths, kindOf: ({ type }) => type, mostAssets: 2 });

    const answers = ["a", "b", "a", "c"].map((asset) => ledger.add({ ...dead(12), asset }));

    expect(answers).toEqual([true, true, true, false]);
  });
});

function dead(atMs: number): Look {
  return { asset: "a", type: "URL", atMs, isDeath: true, count: 1 };
}

function alive(atMs: number): Look {
  return { asset: "a", type: "URL", atMs, isDeath: false, count: 1 };
}

function oneByOne(looks: readonly Look[]): ReturnType<typeof list> {
  const died = looks.filter(({ isDeath, atMs, count }) => isDeath && count > 0 && atMs > 10 && atMs <= 20);
  const keys = [...new Set(died.map(({ type, asset }) => `${type} ${asset}`))].toSorted();
  return keys.map((key) => {
    const own = died.filter(({ type, asset }) => `${type} ${asset}` === key);
    const atMs = Math.max(...own.map((one) => one.atMs));
    const lives = looks.filter((one) => !one.isDeath && one.asset === own[0]?.asset && one.atMs > atMs);
    return { key, atMs, revivedAtMs: lives.length === 0 ? null : Math.min(...lives.map((one) => one.atMs)) };
  });
}
