import { describe, expect, it } from "vitest";

import { renderTable } from "./table.ts";

const columns = { SEVERITY: () => "fail", SLUG: () => "acme", WHO: () => "dana", ID: () => "0011aabb" };

function lines(isTerminal: boolean, width: number): string[] {
  const stdout = { isTerminal, columns: width, write: () => true };
  const context = { stdout, env: { NO_COLOR: "1" } };
  const text = renderTable([{}], columns, { dispensable: ["WHO", "SLUG"], context });
  return text.trimEnd().split("\n");
}

// The longest line has 30 characters.
describe("a table with columns that can go", () => {
  it.each([
    ["has all of them where there is room", true, 30, ["SEVERITY  SLUG  WHO   ID", "fail      acme  dana  0011aabb"]],
    ["has all of them without a terminal", false, 10, ["SEVERITY  SLUG  WHO   ID", "fail      acme  dana  0011aabb"]],
    ["goes without the first of them", true, 29, ["SEVERITY  SLUG  ID", "fail      acme  0011aabb"]],
    ["goes without all of them", true, 23, ["SEVERITY  ID", "fail      0011aabb"]],
    ["is cut where that is not enough", true, 12, ["SEVERITY  ID", "fail      0…"]],
  ] as const)("%s", (_name, isTerminal, columns, expected) => {
    expect(lines(isTerminal, columns)).toEqual(expected);
  });
});
