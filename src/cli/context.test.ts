import { describe, expect, it } from "vitest";
import { outputColumns } from "./context.ts";

describe("the width to write for", () => {
  it.each([
    ["is that of the terminal", { isTTY: true, columns: 132 }, 132],
    ["is 80 without a terminal", { columns: 132 }, 80],
    ["is 80 on a terminal that says 0", { isTTY: true, columns: 0 }, 80],
    ["is 80 on a terminal that says nothing", { isTTY: true }, 80],
  ])("%s", (_name, stream, columns) => {
    expect(outputColumns(stream)).toBe(columns);
  });
});
