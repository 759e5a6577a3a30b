import { hourMs } from "../../base/time.ts";
import { checkKind } from "../../checks/checks.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import type { GateRelease } from "../../store/alerts/log.ts";

export interface GatePolicy {
  /** Any of these releases. With `judged` alone a hold lasts until a person judges or releases. */
  readonly releaseOn: readonly ("judged" | "resolved")[];
  /** `allow`: fail-open, `hold`: fail-closed. */
  readonly whenUnknown: "allow" | "hold";
}

export interface GateFacts {
  /** Alerts of the gate's checks that reached fail while they fired, live and ended. */
  readonly failures: readonly GateFailure[];
  /** Alerts of the gate's checks that are judged `checker` now, whether they failed or not. */
  readonly checkers: readonly Alert[];
  /** The spike check's last run gave a result that still holds. */
  readonly isKnown: boolean;
  readonly nowMs: number;
  readonly windowHours: number;
}

export type GateReason = "fail_firing" | "fail_latched" | "unknown" | "released" | "no_failure";

export interface GateDecision {
  readonly decision: "allow" | "hold";
  readonly reason: GateReason;
  /** The failure that decided: a firing fail, else the oldest that holds; when released the latest. null: none. */
  readonly failure: GateFailure | null;
  /** On hold: since when. Else when `failure` failed. */
  readonly sinceMs: number | null;
  /** All failures that hold, the oldest first. */
  readonly holding: readonly GateFailure[];
  /** Deaths after this instant are in question; null: none are. */
  readonly suspectFromMs: number | null;
}

export function isGateAlert({ check, kind }: Pick<Alert, "check" | "kind">): boolean {
  return kind === "verdict" && checkKind(check).holdsGate;
}

/**
 * Returns whether takedowns of an organization are allowed. The gate holds from the moment when an alert reaches fail
 * until `releaseOn` releases it, even when the alert falls to warn or ends: a pipeline that asks once an hour must not
 * miss a short failure.
 */
export function decideGate(facts: GateFacts, policy: GatePolicy): GateDecision {
  const failures = facts.failures.toSorted((left, right) => left.failure.atMs - right.failure.atMs);
  const holding = holdingFailures(failures, policy);
  const suspectFromMs = suspectFrom(holding, facts);
  const oldest = holding[0];
  if (oldest !== undefined) {
    const firing = holding.find(isFailing);
    const reason = firing === undefined ? "fail_latched" : "fail_firing";
    return {
      decision: "hold",
      reason,
      failure: firing ?? oldest,
      sinceMs: oldest.failure.atMs,
      holding,
      suspectFromMs,
    };
  }
  const failure = failures.at(-1) ?? null;
  const answer = { failure, sinceMs: failure?.failure.atMs ?? null, holding, suspectFromMs };
  if (!facts.isKnown)
    return { ...answer, decision: policy.whenUnknown, reason: "unknown", failure: null, sinceMs: null };
  return { ...answer, decision: "allow", reason: failure === null ? "no_failure" : "released" };
}

export function holdingFailures(failures: readonly GateFailure[], policy: GatePolicy): readonly GateFailure[] {
  return failures.filter((failure) => releaseOf(failure, policy) === null);
}

/** Returns the slugs whose gate is held, with the time since when. `failures` may be of any organization. */
export function heldGates(
  failures: readonly GateFailure[],
  policyOf: (slug: string) => GatePolicy,
): ReadonlyMap<string, number> {
  const held = new Map<string, number>();
  for (const failure of failures) {
    const { slug } = failure;
    if (releaseOf(failure, policyOf(slug)) !== null) continue;
    const { atMs } = failure.failure;
    held.set(slug, Math.min(atMs, held.get(slug) ?? atMs));
  }
  return held;
}

/** Returns the numbers of the incidents of these failures, which hold. */
export function holdersIn(holding: readonly GateFailure[]): readonly number[] {
  return [...new Set(holding.flatMap(({ incident }) => incident?.number ?? []))].toSorted(
    (left, right) => left - right,
  );
}

/** Returns what released the failure; null: it holds. */
export function releaseOf(failure: GateFailure, { releaseOn }: GatePolicy): GateRelease | null {
  const { end } = failure;
  if (failure.failure.releasedAtMs !== null) return "released";
  if (releaseOn.includes("judged") && isReleasedByJudgement(failure)) return "judged";
  return releaseOn.includes("resolved") && end !== null ? "resolved" : null;
}

/** A failure that held a gate before a change, as it is after it, with what released it. */
export type EndedHold = GateFailure & { readonly how: GateRelease };

export interface GateChange {
  readonly ended: readonly EndedHold[];
  readonly isOpened: boolean;
  readonly isHeld: boolean;
}

/** Returns the change. Everything that opens a gate uses it, except a reload, which changes the policy itself. */
export function changeOfGate(
  before: readonly GateFailure[],
  after: readonly GateFailure[],
  policy: GatePolicy,
): GateChange {
  const held = new Set(holdingFailures(before, policy).map((alert) => alert.id));
  const ended = after.flatMap((failure): EndedHold[] => {
    const how = held.has(failure.id) ? releaseOf(failure, policy) : null;
    return how === null ? [] : [{ ...failure, how }];
  });
  const isHeld = holdingFailures(after, policy).length > 0;
  return { ended, isOpened: held.size > 0 && !isHeld, isHeld };
}

/** A judgement `checker` releases only after a run ended the alert: then the checker is right again. */
function isReleasedByJudgement({ judgement, end }: GateFailure): boolean {
  if (judgement === undefined) return false;
  if (judgement.verdict !== "checker") return true;
  return end !== null && end.isByRun;
}

function isFailing({ end, severity }: GateFailure): boolean {
  return end === null && severity === "fail";
}

function suspectFrom(holding: readonly GateFailure[], { checkers, nowMs, windowHours }: GateFacts): number | null {
  const inWindow = checkers.filter(({ end }) => end === null || end.atMs > nowMs - windowHours * hourMs);
  const begins = [...holding, ...inWindow].map((alert) => deathsBeginAtMs(alert, windowHours));
  return begins.length === 0 ? null : Math.min(...begins);
}

/** Returns the instant from which the alert's deaths are in question, epoch ms. */
export function deathsBeginAtMs(
  { onset, startsAtMs, windowHours }: Pick<Alert, "onset" | "startsAtMs" | "windowHours">,
  defaultWindowHours: number,
): number {
  return onset?.atMs ?? startsAtMs - (windowHours ?? defaultWindowHours) * hourMs;
}
