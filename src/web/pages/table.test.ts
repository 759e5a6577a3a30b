import { describe, expect, it } from "vitest";

import { renderRatio } from "./table.ts";

describe("numbers", () => {
  it.each([
    ["whole from 100", { count: 5_119, expected: 11.1, ratio: 459.4 }, "459×"],
    ["with a decimal below", { count: 9, expected: 3, ratio: 3.1 }, "3.1×"],
    ["from 0 where nothing was expected", { count: 22, expected: 0, ratio: null }, "from 0"],
    ["none where nothing came either", { count: 0, expected: 0, ratio: null }, "–"],
    ["none where nothing is known", { count: null, expected: null, ratio: null }, "–"],
  ])("a ratio is %s", (_rule, row, text) => {
    expect(renderRatio(row).html).toContain(`>${text}<`);
  });
});
