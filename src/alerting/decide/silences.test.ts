import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../../base/time.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import { nextChangeAtMs, ruleOf, rulesAt, rulesBySlug, silencedAt, windowAt } from "./silences.ts";
import { matches } from "./matching.ts";

const at = (text: string): number => Date.parse(text);

const fixed: SilenceRule = {
  kind: "fixed",
  slug: "acme",
  comment: "migration",
  startsAtMs: at("2026-01-01T00:00:00Z"),
  endsAtMs: at("2026-01-02T00:00:00Z"),
};

function recurring(changes: { schedule?: string; durationMs?: number; timezone?: string }): SilenceRule {
  return {
    kind: "recurring",
    slug: "*",
    comment: "maintenance",
    schedule: "0 2 * * 6",
    durationMs: 2 * hourMs,
    timezone: "UTC",
    ...changes,
  };
}

describe("a fixed silence", () => {
  it.each([
    ["not before its start", "2025-12-31T23:59:59.999Z", false],
    ["from its start on", "2026-01-01T00:00:00Z", true],
    ["up to its end", "2026-01-01T23:59:59.999Z", true],
    ["no longer at its end", "2026-01-02T00:00:00Z", false],
  ])("holds %s", (_rule, instant, expected) => {
    expect(windowAt(fixed, at(instant)) !== null).toBe(expected);
  });

  it("changes at its start, at its end, and never again", () => {
    expect(nextChangeAtMs(fixed, fixed.kind === "fixed" ? fixed.startsAtMs - 1 : 0)).toBe(at("2026-01-01T00:00:00Z"));
    expect(nextChangeAtMs(fixed, at("2026-01-01T00:00:00Z"))).toBe(at("2026-01-02T00:00:00Z"));
    expect(nextChangeAtMs(fixed, at("2026-01-02T00:00:00Z"))).toBeNull();
  });
});

describe("a recurring silence", () => {
  it.each<[string, Parameters<typeof recurring>[0], string, string | null]>([
    ["outside of its window it does not hold", {}, "2026-01-03T01:59:59.999Z", null],
    ["holds from the scheduled time", {}, "2026-01-03T02:00:00Z", "2026-01-03T04:00:00.000Z"],
    ["holds for its duration", {}, "2026-01-03T03:59:59.999Z", "2026-01-03T04:00:00.000Z"],
    ["not at its end", {}, "2026-01-03T04:00:00Z", null],
    ["goes by its timezone", { timezone: "America/New_York" }, "2026-01-03T07:30:00Z", "2026-01-03T09:00:00.000Z"],
    [
      "windows that touch are one",
      { schedule: "0 0,1,2 * * *", durationMs: hourMs },
      "2026-01-03T00:30:00Z",
      "2026-01-03T03:00:00.000Z",
    ],
    // Berlin skips 02:00 to 03:00 on 2026-03-29: two hours from 01:30 end at 04:30 local time.
    [
      "lasts elapsed time over the hour that is skipped",
      { schedule: "30 1 * * *", timezone: "Europe/Berlin" },
      "2026-03-29T01:45:00Z",
      "2026-03-29T02:30:00.000Z",
    ],
    [
      "a time that is skipped begins at the first instant after it",
      { schedule: "30 2 * * *", timezone: "Europe/Berlin" },
      "2026-03-29T01:00:00Z",
      "2026-03-29T03:00:00.000Z",
    ],
    // Berlin has 02:00 to 03:00 twice on 2026-10-25.
    [
      "lasts elapsed time over the hour that comes twice, and begins the first time only",
      { schedule: "30 2 * * *", timezone: "Europe/Berlin", durationMs: 90 * minuteMs },
      "2026-10-25T01:45:00Z",
      "2026-10-25T02:00:00.000Z",
    ],
  ])("%s", (_rule, changes, instant, endsAt) => {
    const window = windowAt(recurring(changes), at(instant));

    expect(window === null ? null : new Date(window.endsAtMs).toISOString()).toBe(endsAt);
  });

  it("holds always when it comes more often than it ends, and answers in finite time", () => {
    expect(
      windowAt(recurring({ schedule: "* * * * *", durationMs: hourMs }), at("2026-01-03T00:30:00Z")),
    ).not.toBeNull();
  });

  it("changes exactly where its windows begin and end", () => {
    const rule = recurring({ schedule: "0 */6 * * *", durationMs: 90 * minuteMs });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 * 24 * 60 }), (minutes) => {
        const fromMs = at("2026-01-01T00:00:00Z") + minutes * minuteMs;
        const changeMs = nextChangeAtMs(rule, fromMs) ?? 0;
        const holds = windowAt(rule, fromMs) !== null;

        expect(rulesAt([rule], fromMs).length > 0).toBe(holds);
        expect(windowAt(rule, changeMs) !== null).toBe(!holds);
        expect(windowAt(rule, changeMs - 1) !== null).toBe(holds);
      }),
      { numRuns: 50 },
    );
  });
});

describe("silences of an alert", () => {
  const subject = { slug: "acme", check: "dead-asset-spike", labels: {} };

  it("are those that match and hold", () => {
    const other: SilenceRule = { ...fixed, slug: "globex" };
    const nowMs = at("2026-01-01T12:00:00Z");

    expect(silencedAt([other, fixed], nowMs)(subject)).toBe(true);
    expect(silencedAt([other], nowMs)(subject)).toBe(false);
    expect(silencedAt([fixed], at("2026-01-03T00:00:00Z"))(subject)).toBe(false);
    expect(rulesAt([fixed, recurring({})], nowMs)).toEqual([fixed]);
  });

  it("include those made at run time, for one check or for all", () => {
    const stored = {
      id: "s1",
      slug: "ac*",
      check: null,
      startsAtMs: 0,
      endsAtMs: 10,
      comment: "now",
      createdBy: null,
      note: null,
      createdAtMs: 0,
    };

    expect(silencedAt([ruleOf(stored)], 5)(subject)).toBe(true);
    expect(silencedAt([ruleOf({ ...stored, check: "review-queue" })], 5)(subject)).toBe(false);
  });
});

it("are those of one organization and those of more, whatever their number", () => {
  const rules = ["acme", "acme*", "*", String.raw`a\*`, "globex", undefined].map((slug): SilenceRule => {
    const { slug: _slug, ...ofAll } = fixed;
    return slug === undefined ? ofAll : { ...fixed, slug };
  });
  for (const slug of ["acme", "acme-eu", "a*", "globex", "initech"]) {
    const subject = { slug, check: "sentinel", labels: {} };
    for (const rule of rules) expect(silencedAt([rule], fixed.startsAtMs)(subject)).toBe(matches(rule, subject));
    expect(rulesBySlug(rules)(slug)).not.toContain(rules[slug === "globex" ? 0 : 4]);
  }
});
