import { describe, expect, it } from "vitest";

import { escapeControls, escapeUnseen, plainText } from "./outside-text.ts";

describe("escapeUnseen", () => {
  it.each([
    ["a right-to-left override", "acme\u202egpj.exe", String.raw`acme\u202egpj.exe`],
    ["an isolate and its end", "\u2067x\u2069", String.raw`\u2067x\u2069`],
    ["a mark", "\u200f\u061c", String.raw`\u200f\u061c`],
    ["the control sequence introducer of 8 bits", "\u009b31mred", String.raw`\u009b31mred`],
    ["DEL and the next line of C1", "\u007f\u0085", String.raw`\u007f\u0085`],
    ["no letter of any script", "قائمة שלום 例え é 🙂 a\u200db", "قائمة שלום 例え é 🙂 a\u200db"],
    ["no line end, tab or colour", "\u001b[31ma\tb\u001b[0m\r\n", "\u001b[31ma\tb\u001b[0m\r\n"],
  ])("escapes %s", (_what, text, expected) => {
    expect(escapeUnseen(text)).toBe(expected);
  });

  it("leaves the value of JSON as it is", () => {
    const value = { "a\u202eb": ["\\\u009b", "\u2028", '"\u200f\\u202e'] };

    const text = escapeUnseen(JSON.stringify(value));

    expect(text).toMatch(/^[\u0020-\u007e]*$/);
    expect(JSON.parse(text)).toEqual(value);
  });
});

it("escapeControls leaves nothing that a terminal acts on but tabs and line ends", () => {
  expect(escapeControls("\u001b]0;x\u0007\u009b2J\u202e\tb\n")).toBe(
    String.raw`\u001b]0;x\u0007\u009b2J\u202e` + "\tb\n",
  );
});

it("plainText is one line without controls", () => {
  expect(plainText(" a\r\n\tb\u202Ec\u0000\uD800 ")).toBe("a b c \uFFFD");
});
