import { FlatlineError } from "../base/errors.ts";
import { actor, type Actor } from "../contract/actor.ts";
import type { OutsideAct } from "../store/acts/outside-acts.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { actOnIncident, readActFacts } from "./acts/incident-acts.ts";
import { planAct, type ActPlan, type IncidentAct, type IncidentActRequest } from "./acts/plan-act.ts";
import type { ActLink } from "./act-link.ts";
import type { AlertingGround } from "./settings.ts";

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

/** Acts that come from where people read their messages (CONTRACT 13): each is carried out once, in the transaction that notes its id. */
export function createOutsideActs({
  store,
  clock,
  settings,
  newId,
  onChange,
}: Pick<AlertingGround, "store" | "clock" | "settings" | "newId"> & { readonly onChange: () => void }) {
  /** Carries an act out on the members that its receiver was notified of, unless it was before, or comes too late. */
  async function carryOut(noted: OutsideAct, request: IncidentActRequest): Promise<OutsideOutcome> {
    const context = { settings: settings(), nowMs: noted.atMs, newId };
    const outcome = await store.transaction(async (parts) => {
      const refusal = await refusalOf(parts, noted);
      if (refusal !== null) return refusal;
      const found = await outcomeOf(() => actOnIncident(parts, context, request));
      // What changes nothing counts for the order of what PagerDuty says later.
      if (found.outcome === "applied" || (found.outcome === "unchanged" && noted.via === "pagerduty"))
        await parts.outsideActs.note(noted);
      return found.outcome;
    });
    if (outcome === "applied") onChange();
    return outcome;
  }

  return {
    /** What following the link would do now, and to which alerts; changes nothing. */
    foresee: async ({ id, incident, receiver }: ActLink): ReturnType<typeof outcomeOf> => {
      if (await store.outsideActs.isNoted("link", id)) return { outcome: "repeated", alerts: [] };
      const author = actor(receiver, "link");
      const context = { settings: settings(), nowMs: clock.nowMs() };
      const request = { incident, act: acknowledge, author, slugs: null, receiver };
      return outcomeOf(async () => planAct(request, await readActFacts(store, context, request)));
    },
    /**
     * Applies what was done to an incident at this receiver, to the alerts that it was notified of; resolved
     * acknowledges, because the service does not know whether they ended.
     */
    applyIncident: async (outside: OutsideIncident): Promise<OutsideOutcome> => {
      const { id, receiver, incidentKey, kind, person, ...incident } = outside;
      const nowMs = clock.nowMs();
      // A clock that is ahead there must not make everything that follows late.
      const occurredAtMs = Math.min(incident.occurredAtMs, nowMs);
      const [incidentId = "", outlived = "0"] = incidentKey.split(".");
      const found = await store.incidents.find(incidentId);
      // What was acknowledged before it got worse is another incident there.
      if (found === null || found.endedAtMs !== null || String(found.outlived) !== outlived) return "no_alert";
      const author: Actor = actor(`PagerDuty: ${person ?? "no name"}`, "pagerduty");
      const act: IncidentAct = kind === "unacknowledged" ? { kind: "unacknowledge" } : acknowledge;
      const noted: OutsideAct = { id, via: "pagerduty", subject: incidentId, occurredAtMs, atMs: nowMs };
      return carryOut(noted, { incident: found.number, act, author, slugs: null, receiver });
    },
    /** Does what the link is for, once; `name` is what who follows it says to be called, null: nothing. */
    follow: ({ id, incident, receiver }: ActLink, name: string | null): Promise<OutsideOutcome> => {
      const nowMs = clock.nowMs();
      const author = { ...actor(receiver, "link"), note: name };
      const noted: OutsideAct = { id, via: "link", subject: String(incident), occurredAtMs: nowMs, atMs: nowMs };
      return carryOut(noted, { incident, act: acknowledge, author, slugs: null, receiver });
    },
  };
}

const acknowledge = { kind: "acknowledge", comment: null } as const;

/** An incident that is gone or has ended is none: nothing of it can be changed, and no secret gives a right over other members. */
async function outcomeOf(
  act: () => Promise<ActPlan>,
): Promise<{ readonly outcome: OutsideOutcome; readonly alerts: readonly Alert[] }> {
  try {
    const { changed, skipped } = await act();
    const isAlready = skipped.some(({ reason }) => reason === "already");
    const outcome = changed.length > 0 ? "applied" : isAlready ? "unchanged" : "no_alert";
    return { outcome, alerts: changed };
  } catch (error) {
    if (error instanceof FlatlineError && (error.code === "not_found" || error.code === "conflict"))
      return { outcome: "no_alert", alerts: [] };
    throw error;
  }
}

/** Why an act is not to be carried out; null: it is. */
async function refusalOf({ outsideActs }: StoreParts, { via, id, subject, occurredAtMs }: OutsideAct) {
  if (await outsideActs.isNoted(via, id)) return "repeated";
  // A link is followed when it is followed; another service's words may arrive in any order.
  const lastMs = via === "pagerduty" ? await outsideActs.lastOccurredAtMs(via, subject) : null;
  return lastMs !== null && occurredAtMs < lastMs ? "late" : null;
}
