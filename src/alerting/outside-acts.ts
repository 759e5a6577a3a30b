import { FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
import { actor, type Actor } from "../contract/actor.ts";
import type { OutsideAct } from "../store/acts/outside-acts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { Store } from "../store/store.ts";
import { actOnIncident, type IncidentAct, type IncidentActRequest } from "./acts/incident-acts.ts";
import type { ActLink } from "./act-link.ts";
import type { AlertingSettings } from "./settings.ts";

/** An act on an incident at another service. */
export interface OutsideIncident {
  readonly id: string;
  /** The receiver whose secret signed it. */
  readonly receiver: string;
  readonly incidentKey: string;
  readonly kind: "acknowledged" | "unacknowledged" | "resolved";
  readonly occurredAtMs: number;
  readonly person: string | null;
}

/** What became of an act from outside; only `applied` changed something. */
export type OutsideOutcome = "applied" | "repeated" | "late" | "no_alert" | "unchanged";

interface Foreseen {
  readonly outcome: OutsideOutcome;
  readonly alertIds: readonly string[];
}

/** Acts that come from where people read their messages (CONTRACT 13). */
export interface OutsideActs {
  /**
   * Applies what was done to an incident at this receiver, to the alerts that it was notified of; resolved acknowledges, because the
   * service does not know whether they ended.
   */
  applyIncident(incident: OutsideIncident): Promise<OutsideOutcome>;
  /** Does what the link is for, once; `name` is what who follows it says to be called, null: nothing. */
  follow(link: ActLink, name: string | null): Promise<OutsideOutcome>;
  /** What following the link would do now, and the alerts to which; changes nothing. */
  foresee(link: ActLink): Promise<Foreseen>;
}

export interface OutsideActsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Returns the settings that hold now. */
  readonly settings: () => AlertingSettings;
  /** Ids, unique over all time. */
  readonly newId: () => string;
  /** Called after a change. */
  readonly onChange: () => void;
}

/** Acts over the store: each is carried out once, in the transaction that notes its id. */
export function createOutsideActs({ store, clock, settings, newId, onChange }: OutsideActsOptions): OutsideActs {
  /** Does `work` with a store whose transactions first note the act, so that a repeated or late one changes nothing. */
  async function carryOut(act: OutsideAct, work: (noting: Store) => Promise<unknown>): Promise<OutsideOutcome> {
    let refusal: OutsideOutcome | null = null;
    let isNoted = false;
    const transaction: Store["transaction"] = async (own) => {
      const result = await store.transaction(async (parts) => {
        // An act on thousands of alerts is several transactions.
        if (!isNoted) refusal = await noteAct(parts, act);
        if (refusal !== null) throw new FlatlineError("conflict", "the act was carried out before");
        return own(parts);
      });
      isNoted = true;
      return result;
    };
    try {
      await work({ ...store, transaction });
    } catch (error) {
      if (refusal !== null) return refusal;
      // It ended, or was taken back, between the look and the act.
      if (error instanceof FlatlineError && error.code === "not_found") return "no_alert";
      if (error instanceof FlatlineError && error.code === "conflict") return "unchanged";
      throw error;
    }
    onChange();
    return "applied";
  }

  async function foresee({ id, incident, receiver }: ActLink): Promise<Foreseen> {
    if (await store.outsideActs.isNoted("link", id)) return { outcome: "repeated", alertIds: [] };
    const act: IncidentAct = { kind: "acknowledge", comment: null };
    return onIncident(store, { incident, act, author: actor(receiver, "link"), receiver, isDryRun: true });
  }

  /** Acts on those of an incident that a receiver was notified of. */
  async function onIncident(
    noting: Store,
    request: Pick<IncidentActRequest, "incident" | "act" | "author" | "isDryRun"> & { readonly receiver: string },
  ): Promise<Foreseen> {
    const context = { store: noting, settings: settings(), nowMs: clock.nowMs(), newId };
    try {
      const { done, skipped } = await actOnIncident(context, { ...request, slugs: null });
      const isAlready = skipped.some(({ reason }) => reason === "already");
      const outcome = done.length > 0 ? "applied" : isAlready ? "unchanged" : "no_alert";
      return { outcome, alertIds: done.map(({ alertId }) => alertId) };
    } catch (error) {
      if (!request.isDryRun) throw error;
      if (error instanceof FlatlineError && (error.code === "not_found" || error.code === "conflict"))
        return { outcome: "no_alert", alertIds: [] };
      throw error;
    }
  }

  return {
    foresee,
    applyIncident: async ({ id, receiver, incidentKey, kind, person, ...incident }) => {
      const nowMs = clock.nowMs();
      // A clock that is ahead there must not make everything that follows late.
      const occurredAtMs = Math.min(incident.occurredAtMs, nowMs);
      const [incidentId = "", outlived = "0"] = incidentKey.split(".");
      const found = await store.incidents.find(incidentId);
      // What was acknowledged before it got worse is another incident there.
      if (found === null || found.endedAtMs !== null || String(found.outlived) !== outlived) return "no_alert";
      const author: Actor = actor(`PagerDuty: ${person ?? "no name"}`, "pagerduty");
      const act: IncidentAct =
        kind === "unacknowledged" ? { kind: "unacknowledge" } : { kind: "acknowledge", comment: null };
      const request = { incident: found.number, act, author, receiver };
      const { outcome: foreseen } = await onIncident(store, { ...request, isDryRun: true });
      // This secret gives no right over alerts that were sent to other receivers only.
      if (foreseen === "no_alert") return foreseen;
      const noted: OutsideAct = { id, via: "pagerduty", subject: incidentId, occurredAtMs, atMs: nowMs };
      const outcome = await carryOut(noted, async (noting) => {
        // What changes nothing counts for the order of what comes later.
        if (foreseen === "unchanged") await noting.transaction(async () => undefined);
        else await onIncident(noting, { ...request, isDryRun: false });
      });
      return outcome === "applied" ? foreseen : outcome;
    },
    follow: async (link, name) => {
      const { outcome } = await foresee(link);
      if (outcome !== "applied") return outcome;
      const { id, incident, receiver } = link;
      const nowMs = clock.nowMs();
      const author = { ...actor(receiver, "link"), note: name };
      const noted: OutsideAct = { id, via: "link", subject: String(incident), occurredAtMs: nowMs, atMs: nowMs };
      const act: IncidentAct = { kind: "acknowledge", comment: null };
      return carryOut(noted, (noting) => onIncident(noting, { incident, act, author, receiver, isDryRun: false }));
    },
  };
}

/** Notes the act; why it is not to be carried out, else null. */
async function noteAct({ outsideActs }: StoreParts, act: OutsideAct): Promise<"repeated" | "late" | null> {
  // A link is followed when it is followed; another service's words may arrive in any order.
  const lastMs = act.via === "pagerduty" ? await outsideActs.lastOccurredAtMs(act.via, act.subject) : null;
  if (!(await outsideActs.note(act))) return "repeated";
  return lastMs !== null && act.occurredAtMs < lastMs ? "late" : null;
}
