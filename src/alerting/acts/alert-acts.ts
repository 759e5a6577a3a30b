import { FlatlineError } from "../../base/errors.ts";
import type { Actor } from "../../contract/actor.ts";
import type { Store } from "../../store/store.ts";
import { isGateAlert } from "../decide/gate.ts";
import { actOnIncident, type ActContext, type DoneAct } from "./incident-acts.ts";
import type { IncidentAct } from "./plan-act.ts";

/** An act on one alert. */
export interface AlertActRequest {
  readonly alertId: string;
  readonly act: IncidentAct;
  readonly author: Actor;
}

/**
 * Applies an act to the alert's member of its incident. A repetition changes nothing. Wake the notifier afterwards.
 * @throws FlatlineError not_found: no (live) alert, or no judgement to withdraw; conflict: pending, or not
 *   acknowledged; else as actOnIncident
 */
export function actOnAlert(
  store: Pick<Store, "transaction">,
  context: ActContext,
  { alertId, act, author }: AlertActRequest,
): Promise<DoneAct> {
  return store.transaction(async (parts) => {
    const kept = await parts.alerts.find(alertId);
    if (kept === null) throw new FlatlineError("not_found", "no alert has this id");
    const { incident } = kept;
    if (kept.end !== null && (act.kind === "acknowledge" || act.kind === "unacknowledge"))
      throw new FlatlineError("not_found", "no live alert has this id");
    if ((act.kind === "judge" || act.kind === "withdraw") && !isGateAlert(kept))
      throw new FlatlineError("invalid_data", `an alert of ${kept.check} is not judged: it questions no deaths`);
    if (incident === undefined)
      throw new FlatlineError("conflict", "the alert is pending: nothing can be said of it before it fires");
    const done = await actOnIncident(parts, context, { incident: incident.number, act, author, slugs: null, alertId });
    const reason = done.skipped[0]?.reason;
    if (reason === "already" && act.kind === "unacknowledge")
      throw new FlatlineError("conflict", "the alert is not acknowledged: there is nothing to take back");
    if (reason === "already" && act.kind === "withdraw")
      throw new FlatlineError("not_found", "the alert has no judgement to withdraw");
    return done;
  });
}

/** Releases all failures of a gate by hand, in every incident. Later failures hold it again. */
export function releaseGate(
  store: Pick<Store, "transaction">,
  context: ActContext,
  { slug, author, comment }: { readonly slug: string; readonly author: Actor; readonly comment: string },
): Promise<void> {
  return store.transaction(async (parts) => {
    const failures = (await parts.gate.failures(slug)).filter(({ failure }) => failure.releasedAtMs === null);
    const incidents = new Set(failures.flatMap((alert) => alert.incident?.number ?? []));
    const act = { kind: "release", comment } as const;
    const { nowMs } = context;
    // No failure to release: the audit keeps the act all the same.
    if (incidents.size === 0)
      await parts.audit.append({
        atMs: nowMs,
        actor: author,
        action: "release",
        slug,
        subject: null,
        detail: { comment },
      });
    for (const incident of incidents)
      await actOnIncident(parts, context, { incident, act, author, slugs: [slug], isOfGate: true });
  });
}
