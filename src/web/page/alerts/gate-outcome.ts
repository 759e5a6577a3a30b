import type { BulkSubject, HoldFacts } from "./act-facts.ts";

/** What an act can do about holds. */
export type GateAct = Exclude<keyof HoldFacts, "now" | "others" | "isOfGate">;

/**
 * What an act on some of its alerts makes of an organization's gate: no alert held it and none does; it opens; it is held again; it
 * stays held, as `releaseOn` says nothing of such acts, as another alert holds it, until its alerts end, or until a release by
 * hand, as they ended against a baseline with the incident in it.
 */
export type GateOutcome = "free" | "opens" | "shuts" | "unruled" | "other" | "ends" | "tainted";

/** What is asked of an alert. */
export type HeldSubject = Pick<BulkSubject, "releaseOn" | "hold"> & { readonly isEnded: boolean };

/** Returns the outcome for one organization; `alerts` are those of it that are acted on, at least one. */
export function gateOutcome(alerts: readonly HeldSubject[], act: GateAct): GateOutcome {
  const [first] = alerts;
  if (first === undefined) return "free";
  const before = alerts.filter(({ hold }) => hold.now).length;
  const left = alerts.filter(({ hold }) => hold[act]);
  const others = first.hold.others + Number(first.hold.now) - before;
  if (before + others === 0) return left.length === 0 ? "free" : "shuts";
  if (left.length + others === 0) return "opens";
  if (!first.releaseOn.includes(act === "acknowledged" ? act : "judged")) return "unruled";
  if (others > 0) return "other";
  return left.every(({ isEnded }) => !isEnded) ? "ends" : "tainted";
}
