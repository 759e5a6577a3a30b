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
  const none = { lastEventAtMs: null, checkedAssets: 0, checkedAssetsByDay: [] };

  it.each<[severity: string, rule: string, input: object, kinds: string]>([
    ["ok", "events and coverage as usual", {}, ""],
    ["ok", "silence of exactly the limit", { lastEventAtMs: nowMs - 6 * hourMs }, ""],
    ["fail", "silence of a millisecond more", { lastEventAtMs: nowMs - 6 * hourMs - 1 }, "silence"],
    ["fail", "no event up to now", none, "silence"],
    ["ok", "no event ever, which is said to be ok", { ...none, hasBegun: false }, ""],
    ["ok", "coverage down by exactly the share", { checkedAssets: 50 }, ""],
    ["warn", "coverage down by more", { checkedAssets: 49 }, "coverage"],
    ["fail", "both", { lastEventAtMs: nowMs - 7 * hourMs, checkedAssets: 1 }, "silence coverage"],
    ["ok", "more coverage than usual", { checkedAssets: 1_000 }, ""],
    ["ok", "nothing known of what is usual", { checkedAssets: 1, checkedAssetsByDay: [] }, ""],
    ["ok", "a drop from fewer than 20 assets a day", { checkedAssets: 0, checkedAssetsByDay: [19, 19, 19] }, ""],
    ["warn", "a drop from 20 assets a day", { checkedAssets: 0, checkedAssetsByDay: [20, 20, 20] }, "coverage"],
    ["ok", "events that name no asset", { checkedAssets: 0, checkedAssetsByDay: [0, 0, 0] }, ""],
  ])("is %s with %s", (severity, _rule, input, kinds) => {
    const limits = { maxSilenceMs: 6 * hourMs, maxCoverageDrop: 0.5 };

    const result = evaluateEventFlow({ slug: "acme", nowMs, limits, ...usual, ...input, appUrl: null });

    expect(result.severity).toBe(severity);
    expect(result.findings.map(({ kind }) => kind.replace("event-flow.", "")).join(" ")).toBe(kinds);
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
