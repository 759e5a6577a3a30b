import { describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../../base/time.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { AlertEnd, Alert } from "../../store/alerts/alerts.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import { changeOfGate, decideGate, type GateFacts, type GatePolicy } from "./gate.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

const startMs = Date.UTC(2026, 0, 15, 12);
const at = (minute: number): number => startMs + minute * minuteMs;
const nowMs = at(60);
const byJudgement: GatePolicy = { releaseOn: ["judged"], whenUnknown: "allow" };

const alert = (given: Partial<Alert> = {}): Alert => firingAlert("a", at(0), given);

const ended = (given: Partial<AlertEnd> = {}): AlertEnd => ({
  atMs: at(30),
  isByRun: true,
  ...given,
});
const judged = (verdict: JudgementVerdict): Partial<Alert> => ({
  judgement: { verdict, comment: null, by: "kim", note: null, atMs: at(5) },
});
const acknowledged: Partial<Alert> = {
  acknowledgement: { atMs: at(5), by: "kim", note: null, comment: null, severity: "fail" },
};

function failed(
  given: Partial<Alert> = {},
  end: AlertEnd | null = null,
  over: Partial<GateFailure["failure"]> = {},
): GateFailure {
  return { ...alert(given), end, failure: { atMs: at(1), releasedAtMs: null, ...over } };
}

function decide(failures: readonly GateFailure[], policy: Partial<GatePolicy> = {}, facts: Partial<GateFacts> = {}) {
  const all = { failures, checkers: [], isKnown: true, nowMs, windowHours: 24, ...facts };
  return decideGate(all, { ...byJudgement, ...policy });
}

describe("the gate", () => {
  it.each<{ rule: string; failures: readonly GateFailure[]; policy?: Partial<GatePolicy>; answer: string }>([
    { rule: "nothing ever failed", failures: [], answer: "allow no_failure" },
    { rule: "a fail fires", failures: [failed()], answer: "hold fail_firing" },
    { rule: "it is down to warn", failures: [failed({ severity: "warn" })], answer: "hold fail_latched" },
    { rule: "it is over", failures: [failed({}, ended())], answer: "hold fail_latched" },
    { rule: "it is acknowledged", failures: [failed(acknowledged)], answer: "hold fail_firing" },
    { rule: "it is judged real", failures: [failed(judged("real"))], answer: "allow released" },
    { rule: "it is judged expected", failures: [failed(judged("expected"))], answer: "allow released" },
    { rule: "it is over and judged real", failures: [failed(judged("real"), ended())], answer: "allow released" },
    { rule: "it fires and is judged checker", failures: [failed(judged("checker"))], answer: "hold fail_firing" },
    {
      rule: "it is down to warn and judged checker",
      failures: [failed({ ...judged("checker"), severity: "warn" })],
      answer: "hold fail_latched",
    },
    { rule: "it is over and judged checker", failures: [failed(judged("checker"), ended())], answer: "allow released" },
    {
      rule: "a reload ended it, and no run",
      failures: [failed(judged("checker"), ended({ isByRun: false }))],
      answer: "hold fail_latched",
    },
    {
      rule: "that was released by hand",
      failures: [failed(judged("checker"), ended({ isByRun: false }), { releasedAtMs: at(40) })],
      answer: "allow released",
    },
    {
      rule: "judged, where only people release by hand",
      failures: [failed(judged("real"))],
      policy: { releaseOn: [] },
      answer: "hold fail_firing",
    },
    {
      rule: "over, where that releases",
      failures: [failed({}, ended())],
      policy: { releaseOn: ["judged", "resolved"] },
      answer: "allow released",
    },
    {
      rule: "one of two is judged real",
      failures: [failed(judged("real")), failed({ id: "b", check: "sentinel" })],
      answer: "hold fail_firing",
    },
  ])("answers $answer when $rule", ({ failures, policy, answer }) => {
    const { decision, reason } = decide(failures, policy);

    expect(`${decision} ${reason}`).toBe(answer);
  });

  it("names what fires before what is over, and holds since the first of them", () => {
    const over = failed({ id: "over" }, ended());
    const firing = failed({ id: "firing", check: "sentinel" }, null, { atMs: at(40) });

    const decided = decide([firing, over]);

    expect(decided).toMatchObject({ reason: "fail_firing", sinceMs: at(1) });
    expect(decided.failure?.id).toBe("firing");
  });

  it.each([
    { rule: "nothing is known", whenUnknown: "allow", isKnown: false, failures: [], answer: "allow unknown" },
    { rule: "nothing is known", whenUnknown: "hold", isKnown: false, failures: [], answer: "hold unknown" },
    { rule: "a fail is open", whenUnknown: "allow", isKnown: false, failures: [failed()], answer: "hold fail_firing" },
    {
      rule: "nothing is known and a fail was released",
      whenUnknown: "hold",
      isKnown: false,
      failures: [failed(judged("real"))],
      answer: "hold unknown",
    },
  ] as const)(
    "answers $answer with whenUnknown $whenUnknown when $rule",
    ({ whenUnknown, isKnown, failures, answer }) => {
      const { decision, reason } = decide(failures, { whenUnknown }, { isKnown });

      expect(`${decision} ${reason}`).toBe(answer);
    },
  );
});

describe("the deaths in question", () => {
  const onset = { atMs: at(-90), marker: null };
  const checker = (given: Partial<Alert>, end: AlertEnd | null): Alert =>
    alert({ id: "c", ...judged("checker"), ...given, end });

  it.each<{
    rule: string;
    failures?: readonly GateFailure[];
    checkers?: readonly Alert[];
    fromMs: number | null;
  }>([
    { rule: "are none where nothing failed", fromMs: null },
    { rule: "are none where what failed is released", failures: [failed(judged("real"))], fromMs: null },
    { rule: "begin with the onset of what holds", failures: [failed({ onset })], fromMs: at(-90) },
    { rule: "begin with the window of what has none", failures: [failed({ windowHours: 12 })], fromMs: at(-720) },
    { rule: "begin with the window of today where its own is not known", failures: [failed()], fromMs: at(-1_440) },
    {
      rule: "begin with a checker that lies in the window still, released or not",
      failures: [failed({ onset: { atMs: at(50), marker: null } })],
      checkers: [checker({ onset }, ended())],
      fromMs: at(-90),
    },
    {
      rule: "begin with a checker that never failed",
      checkers: [checker({ onset, severity: "warn" }, null)],
      fromMs: at(-90),
    },
    {
      rule: "leave out a checker that has left the window",
      checkers: [checker({ onset }, ended({ atMs: nowMs - 24 * hourMs }))],
      fromMs: null,
    },
  ])("$rule", ({ failures = [], checkers = [], fromMs }) => {
    expect(decide(failures, {}, { checkers }).suspectFromMs).toBe(fromMs);
  });
});

describe("a judgement opens the gate", () => {
  it.each<[string, readonly GateFailure[], Partial<GatePolicy>, readonly JudgementVerdict[]]>([
    ["of one that fires", [failed()], {}, ["real", "expected"]],
    ["of one that is over", [failed({}, ended())], {}, ["checker", "real", "expected"]],
    ["of one that a reload ended", [failed({}, ended({ isByRun: false }))], {}, ["real", "expected"]],
    ["of one that was judged real: no more", [failed(judged("real"))], {}, []],
    ["of one that was released by hand: no more", [failed({}, null, { releasedAtMs: at(9) })], {}, []],
    ["of one of two: none", [failed(), failed({ id: "b" })], {}, []],
    ["where it releases nothing: none", [failed()], { releaseOn: ["resolved"] }, []],
  ])("%s", (_rule, failures, policy, opening) => {
    const verdicts = ["checker", "real", "expected"] as const;
    const after = (verdict: JudgementVerdict): GateFailure[] =>
      failures.map((one) => (one.id === "a" ? { ...one, ...judged(verdict) } : one));

    expect(
      verdicts.filter((one) => changeOfGate(failures, after(one), { ...byJudgement, ...policy }).isOpened),
    ).toEqual(opening);
  });
});
