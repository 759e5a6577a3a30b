import { describe, expect, it } from "vitest";

import { cutText } from "./cut-text.ts";

describe("cutText", () => {
  it.each([
    { rule: "leaves a text that is short enough", text: "abc", length: 3, cut: "abc" },
    { rule: "ends a longer one with an ellipsis", text: "abcd", length: 3, cut: "ab…" },
    { rule: "never cuts a character in two", text: "a😀bc", length: 3, cut: "a…" },
    { rule: "keeps a character that fits", text: "a😀bc", length: 4, cut: "a😀…" },
  ])("$rule", ({ text, length, cut }) => {
    expect(cutText(text, length)).toBe(cut);
  });
});
