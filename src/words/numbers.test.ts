import { describe, expect, it } from "vitest";

import { afterText, durationText, instantText, shareText } from "./numbers.ts";

const spaced = (text: string): string => text.replaceAll("\u00A0", " ");

describe("numbers", () => {
  it.each([
    [0, "0 s"],
    [26 * 60_000 + 5_000, "26 min"],
    [11 * 3_600_000 + 40 * 60_000, "11 h 40 min"],
    [37 * 3_600_000, "1 d 13 h"],
    [48 * 3_600_000 + 60_000, "2 d"],
  ])("%d ms are %s", (durationMs, text) => {
    expect(spaced(durationText(durationMs))).toBe(text);
  });

  it.each([
    [59_999, "right after «rollout»"],
    [40 * 60_000, "40 min after «rollout»"],
  ])("%d ms are %s", (ms, text) => {
    expect(spaced(afterText(ms, "rollout"))).toBe(text);
  });

  it("of shares", () => {
    expect([spaced(shareText(0.784)), spaced(shareText(0.001))]).toEqual(["78 %", "<1 %"]);
  });

  it("of instants have a year when it is not the reader's", () => {
    const atMs = Date.UTC(2025, 11, 31, 23, 59);

    expect(spaced(instantText(atMs, Date.UTC(2026, 0, 1)))).toBe("31 Dec 2025 23:59 UTC");
    expect(spaced(instantText(atMs, atMs))).toBe("31 Dec 23:59 UTC");
  });
});
