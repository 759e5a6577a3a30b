import { describe, expect, it } from "vitest";

import { dayMs, minuteMs } from "../base/time.ts";
import { markerBefore } from "./onset.ts";

const onsetAtMs = Date.UTC(2026, 0, 15, 9, 40);
const marker = (minutesBefore: number, text = `${minutesBefore}`) => ({
  text,
  atMs: onsetAtMs - minutesBefore * minuteMs,
});

describe("the marker of an onset", () => {
  it.each([
    ["the last one before it", [marker(90), marker(40), marker(300)], "40"],
    ["one at the same instant", [marker(0)], "0"],
    ["one within its minute", [{ text: "same minute", atMs: onsetAtMs + minuteMs - 1 }], "same minute"],
    ["none after it", [marker(-1)], undefined],
    ["none of more than a day before", [{ text: "old", atMs: onsetAtMs - dayMs - 1 }], undefined],
    ["one of exactly a day before", [{ text: "day", atMs: onsetAtMs - dayMs }], "day"],
    ["nothing where nothing is marked", [], undefined],
  ])("is %s", (_rule, markers, text) => {
    expect(markerBefore(markers, onsetAtMs)?.text).toBe(text);
  });
});
