import { describe, expect, it } from "vitest";

import { hourMs } from "../../base/time.ts";
import { servedHealthcheckSchema } from "../../contract/healthcheck-schemas.ts";
import { evaluateEventFlow } from "./event-flow.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const usual = {
  lastEventAtMs: nowMs - hourMs,
  hasBegun: true,
  checkedAssets: 90,
  checkedAssetsByDay: [100, 90, 110, 0, 100, 400, 95],
};

describe("event-flow", () => {
  it.each([
    { rule: "events and coverage as usual", input: {}, severity: "ok", kinds: [] },
    { rule: "silence of exactly the limit", input: { lastEventAtMs: nowMs - 6 * hourMs }, severity: "ok", kinds: [] },
    {
      rule: "silence of a millisecond more",
      input: { lastEventAtMs: nowMs - 6 * hourMs - 1 },
      severity: "fail",
      kinds: ["event-flow.silence"],
    },
    {
      rule: "no event up to now",
      input: { lastEventAtMs: null, checkedAssets: 0, checkedAssetsByDay: [] },
      severity: "fail",
      kinds: ["event-flow.silence"],
    },
    {
      rule: "no event ever, which is said to be ok",
      input: { lastEventAtMs: null, hasBegun: false, checkedAssets: 0, checkedAssetsByDay: [] },
      severity: "ok",
      kinds: [],
    },
    { rule: "coverage down by exactly the share", input: { checkedAssets: 50 }, severity: "ok", kinds: [] },
    { rule: "coverage down by more", input: { checkedAssets: 49 }, severity: "warn", kinds: ["event-flow.coverage"] },
    {
      rule: "both",
      input: { lastEventAtMs: nowMs - 7 * hourMs, checkedAssets: 1 },
      severity: "fail",
      kinds: ["event-flow.silence", "event-flow.coverage"],
    },
    { rule: "more coverage than usual", input: { checkedAssets: 1_000 }, severity: "ok", kinds: [] },
    {
      rule: "nothing known of what is usual",
      input: { checkedAssets: 1, checkedAssetsByDay: [] },
      severity: "ok",
      kinds: [],
    },
    {
      rule: "a drop from fewer than 20 assets a day",
      input: { checkedAssets: 0, checkedAssetsByDay: [19, 19, 19] },
      severity: "ok",
      kinds: [],
    },
    {
      rule: "a drop from 20 assets a day",
      input: { checkedAssets: 0, checkedAssetsByDay: [20, 20, 20] },
      severity: "warn",
      kinds: ["event-flow.coverage"],
    },
    {
      rule: "events that name no asset",
      input: { checkedAssets: 0, checkedAssetsByDay: [0, 0, 0] },
      severity: "ok",
      kinds: [],
    },
  ])("is $severity with $rule", ({ input, severity, kinds }) => {
    const limits = { maxSilenceMs: 6 * hourMs, maxCoverageDrop: 0.5 };

    const result = evaluateEventFlow({ slug: "acme", nowMs, limits, ...usual, ...input, appUrl: null });

    expect(result.severity).toBe(severity);
    expect(result.findings.map(({ kind }) => kind)).toEqual(kinds);
    expect(servedHealthcheckSchema.parse(result)).toEqual(result);
  });

  it.each([
    [119, "1m 59s"],
    [120, "2m"],
    [7_199, "1h 59m"],
    [93_600, "1d 2h"],
  ])("tells a silence of %i s as %s", (seconds, text) => {
    const limits = { maxSilenceMs: 60_000, maxCoverageDrop: 1 };

    const input = { ...usual, lastEventAtMs: nowMs - seconds * 1_000 };
    const { findings } = evaluateEventFlow({ slug: "acme", nowMs, limits, ...input, appUrl: null });

    expect(findings[0]?.message).toContain(`for ${text}, the last at`);
  });
});
