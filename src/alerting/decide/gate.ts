import type { CheckName } from "../../contract/report.ts";
import type { AlertHistoryEntry, AlertState } from "../../store/alerts/alerts.ts";
import type { GateRelease } from "../../store/alerts/gate.ts";

/** The checks whose failure says that deaths can't be trusted; a full review queue says nothing of them. */
export const gateChecks = [
  "dead-asset-spike",
  "sentinel",
  "event-flow",
  "regret",
] as const satisfies readonly CheckName[];

/** What ends a hold, beside the release by hand, and what holds where nothing is known. */
export interface GatePolicy {
  /** Any of these. Without `resolved` a hold outlives its alert until somebody has looked. */
  readonly releaseOn: readonly ("acknowledged" | "resolved")[];
  /** `allow`: fail-open, `hold`: fail-closed. */
  readonly whenUnknown: "allow" | "hold";
}

/** What is known of one organization. */
export interface GateFacts {
  /** Alerts of kind verdict of the gate's checks that live. */
  readonly live: readonly AlertState[];
  /** Of the same checks, oldest first, as far as it is kept. */
  readonly history: readonly AlertHistoryEntry[];
  /** By hand, in any order. */
  readonly releases: readonly GateRelease[];
  /** Whether the spike check's last run gave a result that still holds. */
  readonly isKnown: boolean;
}

/** Named, so that a pipeline can tell them apart. */
export type GateReason = "fail_firing" | "fail_latched" | "unknown" | "released" | "no_failure";

export interface GateDecision {
  readonly decision: "allow" | "hold";
  readonly reason: GateReason;
  /** The failure that decided, the oldest one that is not released; null where none did. */
  readonly failure: GateFailure | null;
}

/** One alert that reached fail. */
export interface GateFailure {
  readonly alertId: string;
  readonly check: CheckName;
  /** When it last became a failure. */
  readonly failedAtMs: number;
  /** null: it still fires. */
  readonly endedAtMs: number | null;
  /** What released it; null: nothing yet. */
  readonly releasedBy: "acknowledged" | "resolved" | "released" | null;
}

/**
 * Whether deaths of an organization may be acted on. Holds from the moment an alert reaches fail and stays so, also while it
 * is down to warn or over, until what the policy names has happened since: a pipeline that asks once an hour must not miss a
 * failure that lasted for ten minutes, or was there when it slept.
 */
export function decideGate(facts: GateFacts, policy: GatePolicy): GateDecision {
  const failures = failuresOf(facts, policy).toSorted((left, right) => left.failedAtMs - right.failedAtMs);
  const holding = failures.find(({ releasedBy }) => releasedBy === null);
  if (holding !== undefined) {
    const isFailing = facts.live.some(({ id, severity }) => id === holding.alertId && severity === "fail");
    return { decision: "hold", reason: isFailing ? "fail_firing" : "fail_latched", failure: holding };
  }
  if (!facts.isKnown) return { decision: policy.whenUnknown, reason: "unknown", failure: null };
  const released = failures.findLast(({ endedAtMs }) => endedAtMs === null);
  if (released !== undefined) return { decision: "allow", reason: "released", failure: released };
  return { decision: "allow", reason: "no_failure", failure: null };
}

/** Alerts that reached fail while they fired, each with what released it. */
function failuresOf({ live, history, releases }: Omit<GateFacts, "isKnown">, policy: GatePolicy): GateFailure[] {
  const firing = live.filter(({ state, kind }) => state === "firing" && kind === "verdict");
  const lives = Map.groupBy(
    history.filter(({ kind }) => kind === "verdict"),
    ({ alertId }) => alertId,
  );
  // One that fires for longer than history is kept has no beginning there.
  for (const { id } of firing) if (!lives.has(id)) lives.set(id, []);
  return [...lives].flatMap(([alertId, entries]) => {
    const alert = firing.find(({ id }) => id === alertId) ?? null;
    const failed = entries.findLast(
      ({ event, severity }) => severity === "fail" && (event === "firing" || event === "escalated"),
    );
    const isOldFailure = failed === undefined && alert !== null && alert.peak.severity === "fail";
    const failedAtMs = failed?.atMs ?? (isOldFailure ? (alert.firingAtMs ?? alert.startsAtMs) : null);
    const check = failed?.check ?? alert?.check;
    if (failedAtMs === null || check === undefined) return [];
    const since = entries.filter(({ atMs }) => atMs >= failedAtMs);
    const ended = alert === null ? since.findLast(({ event }) => event === "resolved") : undefined;
    const acknowledged =
      since.some(({ event }) => event === "acknowledged") ||
      (isOldFailure && alert.acknowledgement !== null && alert.acknowledgement.atMs >= failedAtMs);
    const releasedBy = releases.some(({ atMs }) => atMs >= failedAtMs)
      ? "released"
      : policy.releaseOn.includes("acknowledged") && acknowledged
        ? "acknowledged"
        : policy.releaseOn.includes("resolved") && alert === null
          ? "resolved"
          : null;
    return [{ alertId, check, failedAtMs, endedAtMs: alert === null ? (ended?.atMs ?? failedAtMs) : null, releasedBy }];
  });
}

/** What an alert itself did to end a hold. */
export interface AlertRelease {
  readonly alertId: string;
  readonly atMs: number;
  readonly how: "acknowledged" | "resolved";
}

/** Every hold that an acknowledgement or the end of its alert ended; what somebody released by hand before is not among them. */
export function releasesByAlerts(
  { history, releases }: Pick<GateFacts, "history" | "releases">,
  { releaseOn }: GatePolicy,
): AlertRelease[] {
  const failedAtById = new Map<string, number>();
  const found: AlertRelease[] = [];
  for (const { alertId, kind, event, severity, atMs } of history) {
    if (kind !== "verdict") continue;
    if (severity === "fail" && (event === "firing" || event === "escalated")) failedAtById.set(alertId, atMs);
    const how = releaseOn.find((one) => one === event);
    const failedAtMs = failedAtById.get(alertId);
    if (how === undefined || failedAtMs === undefined) continue;
    failedAtById.delete(alertId);
    const isReleased = releases.some((release) => release.atMs >= failedAtMs && release.atMs <= atMs);
    if (!isReleased) found.push({ alertId, atMs, how });
  }
  return found;
}
