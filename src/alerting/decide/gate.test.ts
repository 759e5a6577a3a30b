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
  const byReload = ended({ isByRun: false });
  const twice = [failed(judged("real")), failed({ id: "b", check: "sentinel" })];

  it.each<[answer: string, rule: string, failures: readonly GateFailure[], policy?: Partial<GatePolicy>]>([
    ["allow no_failure", "nothing ever failed", []],
    ["hold fail_firing", "a fail fires", [failed()]],
    ["hold fail_latched", "it is down to warn", [failed({ severity: "warn" })]],
    ["hold fail_latched", "it is over", [failed({}, ended())]],
    ["hold fail_firing", "it is acknowledged", [failed(acknowledged)]],
    ["allow released", "it is judged real", [failed(judged("real"))]],
    ["allow released", "it is judged expected", [failed(judged("expected"))]],
    ["allow released", "it is over and judged real", [failed(judged("real"), ended())]],
    ["hold fail_firing", "it fires and is judged checker", [failed(judged("checker"))]],
    ["hold fail_latched", "it is warn and judged checker", [failed({ ...judged("checker"), severity: "warn" })]],
    ["allow released", "it is over and judged checker", [failed(judged("checker"), ended())]],
    ["hold fail_latched", "a reload ended it, and no run", [failed(judged("checker"), byReload)]],
    ["allow released", "that was released by hand", [failed(judged("checker"), byReload, { releasedAtMs: at(40) })]],
    ["hold fail_firing", "it is judged, where only people release", [failed(judged("real"))], { releaseOn: [] }],
    ["allow released", "it is over, where that releases", [failed({}, ended())], { releaseOn: ["judged", "resolved"] }],
    ["hold fail_firing", "one of two is judged real", twice],
  ])("answers %s when %s", (answer, _rule, failures, policy) => {
    const { decision, reason } = decide(failures, policy);

    expect(`${decision} ${reason}`).toBe(answer);
  });

  it("names what fires before what is over, and holds since the first of them", () => {
    const over = failed({ id: "over" }, ended());
    const firing = failed({ id: "firing", check: "sentinel" }, null, { atMs: at(40) });

    const decided = decide([firing, over]);

    expect(decided).toMatchObject({ reason: "fail_firing", sinceMs: at(1) });
    expect(decided.failure?.id).toBe("firing");
    expect(decided.holding.map(({ id }) => id)).toEqual(["over", "firing"]);
  });

  it.each<[answer: string, whenUnknown: GatePolicy["whenUnknown"], rule: string, failures: readonly GateFailure[]]>([
    ["allow unknown", "allow", "nothing is known", []],
    ["hold unknown", "hold", "nothing is known", []],
    ["hold fail_firing", "allow", "a fail is open", [failed()]],
    ["hold unknown", "hold", "nothing is known and a fail was released", [failed(judged("real"))]],
  ])("answers %s with whenUnknown %s when %s", (answer, whenUnknown, _rule, failures) => {
    const { decision, reason } = decide(failures, { whenUnknown }, { isKnown: false });

    expect(`${decision} ${reason}`).toBe(answer);
  });
});

describe("the deaths in question", () => {
  const onset = { atMs: at(-90), marker: null };
  const checker = (given: Partial<Alert>, end: AlertEnd | null): Alert =>
    alert({ id: "c", ...judged("checker"), ...given, end });

  const late = { onset: { atMs: at(50), marker: null } };
  const left = ended({ atMs: nowMs - 24 * hourMs });

  it.each<[rule: string, fromMs: number | null, failures: readonly GateFailure[], checkers?: readonly Alert[]]>([
    ["are none where nothing failed", null, []],
    ["are none where what failed is released", null, [failed(judged("real"))]],
    ["begin with the onset of what holds", at(-90), [failed({ onset })]],
    ["begin with the window of what has none", at(-720), [failed({ windowHours: 12 })]],
    ["begin with the window of today where its own is not known", at(-1_440), [failed()]],
    [
      "begin with a checker that lies in the window still, released",
      at(-90),
      [failed(late)],
      [checker({ onset }, ended())],
    ],
    ["begin with a checker that never failed", at(-90), [], [checker({ onset, severity: "warn" }, null)]],
    ["leave out a checker that has left the window", null, [], [checker({ onset }, left)]],
  ])("%s", (_rule, fromMs, failures, checkers = []) => {
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
