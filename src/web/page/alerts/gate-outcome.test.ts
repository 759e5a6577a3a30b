import { expect, it } from "vitest";

import { gateOutcome, type GateAct, type GateOutcome, type HeldSubject } from "./gate-outcome.ts";

const never = { isOfGate: true, now: false, acknowledged: false, checker: false, real: false, expected: false };
/** One that fires as fail, and holds until it is judged real. */
const firing: HeldSubject = {
  isEnded: false,
  releaseOn: ["judged"],
  hold: { ...never, now: true, acknowledged: true, checker: true, others: 0 },
};
const free: HeldSubject = { ...firing, hold: { ...never, others: 0 } };
const ended: HeldSubject = { ...firing, isEnded: true, hold: { ...firing.hold, checker: false } };
const tainted: HeldSubject = { ...firing, isEnded: true };
const beside = (one: HeldSubject, others: number): HeldSubject => ({ ...one, hold: { ...one.hold, others } });

it.each<{ rule: string; alerts: readonly HeldSubject[]; act: GateAct; outcome: GateOutcome }>([
  { rule: "of none that holds is none", alerts: [free], act: "real", outcome: "free" },
  { rule: "judged real is that it opens", alerts: [firing], act: "real", outcome: "opens" },
  { rule: "judged checker while it fires is that it stays", alerts: [firing], act: "checker", outcome: "ends" },
  { rule: "judged checker when it is over is that it opens", alerts: [ended], act: "checker", outcome: "opens" },
  { rule: "judged checker beside its own deaths stays", alerts: [tainted], act: "checker", outcome: "tainted" },
  { rule: "with another alert that holds it stays", alerts: [beside(firing, 1)], act: "real", outcome: "other" },
  { rule: "of both that hold it opens", alerts: [beside(firing, 1), beside(ended, 1)], act: "real", outcome: "opens" },
  {
    rule: "of one that is over and one that fires",
    alerts: [beside(firing, 1), beside(ended, 1)],
    act: "checker",
    outcome: "ends",
  },
  {
    rule: "of one that another act released",
    alerts: [{ ...free, hold: { ...free.hold, checker: true } }],
    act: "checker",
    outcome: "shuts",
  },
  { rule: "that releaseOn does not name stays", alerts: [firing], act: "acknowledged", outcome: "unruled" },
  { rule: "of one that does not hold beside one that does", alerts: [beside(free, 1)], act: "real", outcome: "other" },
])("the outcome $rule", ({ alerts, act, outcome }) => {
  expect(gateOutcome(alerts, act)).toBe(outcome);
});
