import { describe, expect, it } from "vitest";

import { drawAssets, mayNameVictim, seededRandom } from "./plan.ts";

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

describe("mayNameVictim", () => {
  it.each([
    ["a token in the path", "https://a.example/x/4f2a9c8e7b6d5a4f3c2b1a09"],
    ["a UUID", "https://a.example/550e8400-e29b-41d4-a716-446655440000"],
    ["a token after a backslash, which browsers take for a slash", "https://a.example\\4f2a9c8e7b6d5a4f3c2b1a09"],
    ["a token in the query", "https://a.example/?t=dXNlckBleGFtcGxlLm9yZw42"],
    ["a token as the query", "https://a.example?dXNlckBleGFtcGxlLm9yZw42"],
    ["a token after the number sign", "https://a.example/#/dXNlckBleGFtcGxlLm9yZw42"],
    ["a token of a name without a scheme", "a.example/dXNlckBleGFtcGxlLm9yZw42"],
    ["an at sign", "https://a.example/?m=user@example.org"],
    ["an encoded at sign", "https://a.example/?m=user%40example.org"],
    ["an at sign before the host", "https://user@a.example/"],
    ["an address of mail", "someone@example.org"],
  ])("takes %s for it", (_, name) => {
    expect(mayNameVictim(name)).toBe(true);
  });

  it.each([
    ["a long word", "https://a.example/internationalizationandlocalization"],
    ["a long number", "https://a.example/?t=123456789012345678901234567890"],
    ["twenty-three characters", "https://a.example/4f2a9c8e7b6d5a4f3c2b1a0"],
    ["a long host", "https://secure-sign-in-of-the-bank-2026.example/x"],
    ["a bare long host", "secure-sign-in-of-the-bank-2026.example"],
    ["a handle", "t.me/acme_support"],
  ])("does not take %s for it", (_, name) => {
    expect(mayNameVictim(name)).toBe(false);
  });

  it("takes each name of more than 2,048 characters for it", () => {
    const long = "https://a.example/".padEnd(2_048, "a/");

    expect(mayNameVictim(long)).toBe(false);
    expect(mayNameVictim(`${long}a`)).toBe(true);
  });
});
