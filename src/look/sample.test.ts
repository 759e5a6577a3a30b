import { describe, expect, it } from "vitest";

import { drawAssets, seededRandom } from "./sample.ts";

const named = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe("drawAssets", () => {
  it("draws each asset once, the same for the same seed and others for another", () => {
    const organizations = [
      { excess: 50, assets: named("a", 30) },
      { excess: 0, assets: named("b", 3) },
      { excess: 7, assets: [] },
    ];
    const drawn = (seed: string): string[] => [...drawAssets(organizations, seededRandom(seed))];

    expect(drawn("incident/1").toSorted()).toStrictEqual([...named("a", 30), ...named("b", 3)].toSorted());
    expect(drawn("incident/1")).toStrictEqual(drawn("incident/1"));
    expect(drawn("incident/1")).not.toStrictEqual(drawn("incident/2"));
  });

  it("takes organizations as their excess is, and their assets evenly", () => {
    const organizations = [
      { excess: 300, assets: named("a", 10) },
      { excess: 100, assets: named("b", 10_000) },
    ];
    const first = Array.from(
      { length: 4_000 },
      (_, index) => drawAssets(organizations, seededRandom(`${index}`)).next().value ?? "",
    );
    const shareOf = (prefix: string): number => first.filter((one) => one.startsWith(prefix)).length / first.length;

    expect(shareOf("a")).toBeCloseTo(0.75, 1);
    expect(shareOf("a3")).toBeCloseTo(0.075, 1);
  });

  it("draws nothing from nothing", () => {
    expect([...drawAssets([], seededRandom("x"))]).toStrictEqual([]);
  });
});
