import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isSameType, noType, type AssetLook, type AssetName } from "../contract/assets.ts";
import { DeadAssetLedger } from "./dead-assets.ts";

const url = 1;
const email = 2;
const keyOf = ({ typeId, asset }: AssetName): string => `${typeId} ${asset}`;

const deaths = { afterMs: 10, untilMs: 20 };

function list(looks: readonly AssetLook[]): { key: string; atMs: number; revivedAtMs: number | null }[] {
  const ledger = new DeadAssetLedger<AssetLook>({ deaths, mostAssets: 1_000 });
  for (const look of looks.toSorted((left, right) => left.atMs - right.atMs)) ledger.add(look);
  return ledger
    .assets()
    .map(({ death, revivedAtMs }) => ({ key: keyOf(death), atMs: death.atMs, revivedAtMs }))
    .toSorted((left, right) => (left.key < right.key ? -1 : 1));
}

const look = fc.record({
  asset: fc.constantFrom("a", "b", "c"),
  typeId: fc.constantFrom(url, email, noType),
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
      rule: "are apart where their types are, dead or alive",
      looks: [dead(12), { ...dead(13), typeId: email }, alive(14)],
      are: [
        [12, 14],
        [13, null],
      ],
    },
    {
      rule: "are all alive by a look that says no type",
      looks: [dead(12), { ...dead(13), typeId: email }, { ...alive(14), typeId: noType }],
      are: [
        [12, 14],
        [13, 14],
      ],
    },
    {
      rule: "are alive by a look of any type when their death says none",
      looks: [{ ...dead(12), typeId: noType }, alive(14)],
      are: [[12, 14]],
    },
  ])("$rule", ({ looks, are }) => {
    expect(list(looks).map(({ atMs, revivedAtMs }) => [atMs, revivedAtMs])).toEqual(are);
  });

  it("that are still dead are those with no look after their death that found them alive", () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 30 }), (looks) => {
        for (const { key, atMs, revivedAtMs } of list(looks)) {
          const [typeId = "", asset] = key.split(" ");
          const isAlive = looks.some(
            (one) => !one.isDeath && one.asset === asset && isSameType(one.typeId, Number(typeId)) && one.atMs > atMs,
          );
          expect(revivedAtMs !== null).toBe(isAlive);
        }
      }),
    );
  });

  it("are given up when they are too many", () => {
    const ledger = new DeadAssetLedger<AssetLook>({ deaths, mostAssets: 2 });

    const answers = ["a", "b", "a", "c"].map((asset) => ledger.add({ ...dead(12), asset }));

    expect(answers).toEqual([true, true, true, false]);
  });
});

function dead(atMs: number): AssetLook {
  return { asset: "a", typeId: url, atMs, isDeath: true, count: 1 };
}

function alive(atMs: number): AssetLook {
  return { asset: "a", typeId: url, atMs, isDeath: false, count: 1 };
}
