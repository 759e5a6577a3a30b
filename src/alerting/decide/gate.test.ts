import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { minuteMs } from "../../base/time.ts";
import type { AlertHistoryEntry, AlertState } from "../../store/alerts/alerts.ts";
import { decideGate, releasesByAlerts, type GateFacts, type GatePolicy } from "./gate.ts";

const either: GatePolicy = { releaseOn: ["acknowledged", "resolved"], whenUnknown: "allow" };
const check = "dead-asset-spike" as const;

function entry(minute: number, event: string, severity: "warn" | "fail", alertId = "a"): AlertHistoryEntry {
  return { alertId, check, slug: "acme", kind: "verdict", atMs: minute * minuteMs, event, severity, reason: "" };
}

function live(severity: "warn" | "fail", given: Partial<AlertState> = {}): AlertState {
  return {
    id: "a",
    check,
    slug: "acme",
    kind: "verdict",
    state: "firing",
    severity,
    startsAtMs: 0,
    firingAtMs: 0,
    okSinceMs: null,
    unknownRuns: 0,
    peak: { severity, currentCount: 90, atMs: 0 },
    acknowledgement: null,
    reason: "",
    ...given,
  };
}

const release = (minute: number) => ({ slug: "acme", atMs: minute * minuteMs, by: "kim", comment: "seen" });
const failed = [entry(1, "firing", "fail")];
const over = [...failed, entry(9, "resolved", "fail")];

describe("the gate", () => {
  it.each<{ rule: string; facts: Partial<GateFacts>; policy?: Partial<GatePolicy>; answer: string }>([
    { rule: "nothing ever failed", facts: {}, answer: "allow no_failure" },
    {
      rule: "a warn fires",
      facts: { live: [live("warn")], history: [entry(1, "firing", "warn")] },
      answer: "allow no_failure",
    },
    {
      rule: "a fail is pending",
      facts: { live: [live("fail", { state: "pending", firingAtMs: null })] },
      answer: "allow no_failure",
    },
    { rule: "a fail fires", facts: { live: [live("fail")], history: failed }, answer: "hold fail_firing" },
    {
      rule: "it is down to warn",
      facts: { live: [live("warn")], history: [...failed, entry(5, "deescalated", "warn")] },
      answer: "hold fail_latched",
    },
    {
      rule: "it was acknowledged",
      facts: { live: [live("fail")], history: [...failed, entry(2, "acknowledged", "fail")] },
      answer: "allow released",
    },
    {
      rule: "the warn was acknowledged before it became a fail",
      facts: {
        live: [live("fail")],
        history: [entry(1, "firing", "warn"), entry(2, "acknowledged", "warn"), entry(3, "escalated", "fail")],
      },
      answer: "hold fail_firing",
    },
    { rule: "it is over", facts: { history: over }, answer: "allow no_failure" },
    {
      rule: "it is over, and only people release",
      facts: { history: over },
      policy: { releaseOn: ["acknowledged"] },
      answer: "hold fail_latched",
    },
    {
      rule: "it is over and had been acknowledged",
      facts: { history: [...failed, entry(2, "acknowledged", "fail"), entry(9, "resolved", "fail")] },
      policy: { releaseOn: ["acknowledged"] },
      answer: "allow no_failure",
    },
    {
      rule: "it was acknowledged, and only its end releases",
      facts: { live: [live("fail")], history: [...failed, entry(2, "acknowledged", "fail")] },
      policy: { releaseOn: ["resolved"] },
      answer: "hold fail_firing",
    },
    {
      rule: "it was released by hand",
      facts: { live: [live("fail")], history: failed, releases: [release(3)] },
      answer: "allow released",
    },
    {
      rule: "it failed again after the release",
      facts: {
        live: [live("fail")],
        history: [...failed, entry(4, "deescalated", "warn"), entry(6, "escalated", "fail")],
        releases: [release(5)],
      },
      answer: "hold fail_firing",
    },
    {
      rule: "only a release by hand counts",
      facts: { history: over },
      policy: { releaseOn: [] },
      answer: "hold fail_latched",
    },
    {
      rule: "it has fired for longer than history is kept",
      facts: { live: [live("fail")] },
      answer: "hold fail_firing",
    },
    { rule: "nothing is known", facts: { isKnown: false }, answer: "allow unknown" },
    {
      rule: "nothing is known, and that closes it",
      facts: { isKnown: false },
      policy: { whenUnknown: "hold" },
      answer: "hold unknown",
    },
    {
      rule: "a failure is open and the last run failed",
      facts: { live: [live("fail")], history: failed, isKnown: false },
      answer: "hold fail_firing",
    },
  ])("$rule: $answer", ({ facts, policy, answer }) => {
    const all = { live: [], history: [], releases: [], isKnown: true, ...facts };

    const { decision, reason } = decideGate(all, { ...either, ...policy });

    expect(`${decision} ${reason}`).toBe(answer);
  });

  it("is latched: once a fail has fired it holds until something of the policy came after it, whatever else came", () => {
    const noise = fc.constantFrom("deescalated", "reminder", "pending");
    const releasing = fc.constantFrom("acknowledged", "resolved");
    fc.assert(
      fc.property(
        fc.array(noise, { maxLength: 6 }),
        fc.option(releasing),
        fc.subarray<"acknowledged" | "resolved">(["acknowledged", "resolved"]),
        (events, last, releaseOn) => {
          const later = [...events, ...(last === null ? [] : [last])];
          const history = [
            ...failed,
            ...later.map((event, index) => entry(index + 2, event, event === "deescalated" ? "warn" : "fail")),
          ];
          const facts = { live: last === "resolved" ? [] : [live("fail")], history, releases: [], isKnown: true };

          const { decision } = decideGate(facts, { ...either, releaseOn });

          expect(decision).toBe(last !== null && releaseOn.includes(last) ? "allow" : "hold");
        },
      ),
    );
  });
});

describe("releases by alerts", () => {
  const acknowledged = [...failed, entry(3, "acknowledged", "fail")];
  const failedAgain = [...acknowledged, entry(5, "deescalated", "warn"), entry(6, "escalated", "fail")];

  it.each<{ rule: string; facts: Partial<GateFacts>; policy?: Partial<GatePolicy>; listed: string[] }>([
    { rule: "an acknowledgement", facts: { history: acknowledged }, listed: ["acknowledged 3"] },
    { rule: "it stays when the alert fails again", facts: { history: failedAgain }, listed: ["acknowledged 3"] },
    {
      rule: "and the end of that one is another",
      facts: { history: [...failedAgain, entry(9, "resolved", "fail")] },
      listed: ["acknowledged 3", "resolved 9"],
    },
    {
      rule: "what was released already is not released by its end",
      facts: { history: [...acknowledged, entry(9, "resolved", "fail")] },
      listed: ["acknowledged 3"],
    },
    { rule: "nor what was released by hand", facts: { history: over, releases: [release(4)] }, listed: [] },
    {
      rule: "a later release by hand changes nothing",
      facts: { history: over, releases: [release(20)] },
      listed: ["resolved 9"],
    },
    {
      rule: "the end of a warn",
      facts: { history: [entry(1, "firing", "warn"), entry(9, "resolved", "warn")] },
      listed: [],
    },
    {
      rule: "what the policy does not name",
      facts: { history: over },
      policy: { releaseOn: ["acknowledged"] },
      listed: [],
    },
  ])("$rule", ({ facts, policy, listed }) => {
    const found = releasesByAlerts({ history: [], releases: [], ...facts }, { ...either, ...policy });

    expect(found.map(({ how, atMs }) => `${how} ${atMs / minuteMs}`)).toEqual(listed);
  });
});
