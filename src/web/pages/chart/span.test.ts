import { describe, expect, it } from "vitest";

import { dayMs, hourMs, minuteMs } from "../../../base/time.ts";
import { chooseSpan, type SpanAsk } from "./span.ts";

const nowMs = Date.UTC(2026, 10, 23, 22, 7);
const ask = (query: string, more: Partial<SpanAsk> = {}): SpanAsk => ({
  path: "/o",
  params: new URLSearchParams(query),
  nowMs,
  incident: null,
  knownFromMs: null,
  isThin: false,
  ...more,
});
const incident = { beganMs: nowMs - 30 * minuteMs, endedMs: null };
const namesOf = (one: SpanAsk): string[] =>
  chooseSpan(one).ranges.map(({ name, isCurrent }) => `${isCurrent ? "*" : ""}${name.replaceAll("\u00a0", " ")}`);

describe("the range of a chart", () => {
  it.each([
    ["a week without an incident", "", {}, { fromMs: nowMs - 7 * dayMs, toMs: nowMs }],
    ["the one that is asked for", "range=3d", {}, { fromMs: nowMs - 3 * dayMs, toMs: nowMs }],
    ["the incident with an hour before it", "", { incident }, { fromMs: nowMs - 90 * minuteMs, toMs: nowMs }],
    ["the same, two weeks before", "range=24h&weeks=2", {}, { fromMs: nowMs - 15 * dayMs, toMs: nowMs - 14 * dayMs }],
    ["not older than what is ever kept", "weeks=99", {}, { fromMs: nowMs - 406 * dayMs, toMs: nowMs - 399 * dayMs }],
    ["none that cannot be", "range=x&weeks=-1", {}, { fromMs: nowMs - 90 * dayMs, toMs: nowMs }],
  ])("is %s", (_, query, more, span) => {
    expect(chooseSpan(ask(query, more)).span).toEqual(span);
  });

  it("is of an incident that has ended what was before it and after it", () => {
    const ended = { beganMs: nowMs - 10 * dayMs, endedMs: nowMs - 9 * dayMs };

    const { fromMs, toMs } = chooseSpan(ask("", { incident: ended })).span;

    expect(fromMs).toBe(ended.beganMs - 6 * hourMs);
    expect(toMs).toBe(ended.endedMs + 1.5 * hourMs);
  });

  it("is of a thin past all that is known, and some of what is not", () => {
    const knownFromMs = nowMs - 25 * hourMs;

    const { span } = chooseSpan(ask("", { incident, knownFromMs, isThin: true }));

    expect(span.fromMs).toBeLessThan(knownFromMs);
    expect(namesOf(ask("", { incident, knownFromMs, isThin: true }))).toEqual([
      "*this incident",
      "all that is known, 25 h",
    ]);
  });

  it.each([
    ["the ranges, with the one that holds", "", {}, ["24 h", "3 d", "*7 d", "90 d", "a week before"]],
    ["the incident first", "range=24h", { incident }, ["this incident", "*24 h", "3 d", "7 d", "a week before"]],
    [
      "a past range as the one that holds",
      "range=24h&weeks=1",
      {},
      ["24 h", "3 d", "7 d", "90 d", "*15 Nov 22:07 to 16 Nov 22:07", "a week before"],
    ],
    [
      "all that is known in place of longer ones",
      "",
      { knownFromMs: nowMs - 4 * dayMs },
      ["24 h", "3 d", "*all that is known, 4 d"],
    ],
  ])("is chosen among %s", (_, query, more, names) => {
    expect(namesOf(ask(query, more))).toEqual(names);
  });

  it("keeps the rest of the address, and moves by a week", () => {
    const ranges = chooseSpan(ask(`tab=x&range=24h`)).ranges;

    expect(ranges.map(({ href }) => href)).toEqual([
      "/o?tab=x&range=24h",
      "/o?tab=x&range=3d",
      "/o?tab=x",
      "/o?tab=x&range=90d",
      "/o?tab=x&range=24h&weeks=1",
    ]);
  });
});
