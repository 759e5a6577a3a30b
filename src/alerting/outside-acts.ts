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
  /** The receiver whose secret signed the act. */
  readonly receiver: string;
  readonly incidentKey: string;
  readonly kind: "acknowledged" | "unacknowledged" | "resolved";
  readonly occurredAtMs: number;
  readonly person: string | null;
}

/** The outcome of an act from outside; only `applied` changed something. */
export type OutsideOutcome = "applied" | "repeated" | "late" | "no_alert" | "unchanged";

/** Applies acts from links and other services (CONTRACT 13), each once: the same transaction stores its id. */
export function createOutsideActs({
  store,
  clock,
  settings,
  newId,
  onChange,
}: Pick<AlertingGround, "store" | "clock" | "settings" | "newId"> & { readonly onChange: () => void }) {
  /** Applies an act to the members that its receiver was notified of, unless it is a repetition or too late. */
  async function carryOut(noted: OutsideAct, request: IncidentActRequest): Promise<OutsideOutcome> {
    const context = { settings: settings(), nowMs: noted.atMs, newId };
    const outcome = await store.transaction(async (parts) => {
      const refusal = await refusalOf(parts, noted);
      if (refusal !== null) return refusal;
      const found = await outcomeOf(() => actOnIncident(parts, context, request));
      // PagerDuty's acts have an order, so one that changes nothing is noted too.
      if (found.outcome === "applied" || (found.outcome === "unchanged" && noted.via === "pagerduty"))
        await parts.outsideActs.note(noted);
      return found.outcome;
    });
    if (outcome === "applied") onChange();
    return outcome;
  }

  return {
    /** What the link would do now, and to which alerts. Changes nothing. */
    foresee: async ({ id, incident, receiver }: ActLink): ReturnType<typeof outcomeOf> => {
      if (await store.outsideActs.isNoted("link", id)) return { outcome: "repeated", alerts: [] };
      const author = actor(receiver, "link");
      const context = { settings: settings(), nowMs: clock.nowMs() };
      const request = { incident, act: acknowledge, author, slugs: null, receiver };
      return outcomeOf(async () => planAct(request, await readActFacts(store, context, request)));
    },
    /**
     * Applies a change at this receiver to the alerts that it was notified of. Resolved acknowledges: the service does
     * not know whether the alerts ended.
     */
    applyIncident: async (outside: OutsideIncident): Promise<OutsideOutcome> => {
      const { id, receiver, incidentKey, kind, person, ...incident } = outside;
      const nowMs = clock.nowMs();
      // A clock that is ahead there must not make all later acts late.
      const occurredAtMs = Math.min(incident.occurredAtMs, nowMs);
      const [incidentId = "", outlived = "0"] = incidentKey.split(".");
      const found = await store.incidents.find(incidentId);
      // An incident that got worse after its acknowledgement is a new incident there.
      if (found === null || found.endedAtMs !== null || String(found.outlived) !== outlived) return "no_alert";
      const author: Actor = actor(`PagerDuty: ${person ?? "no name"}`, "pagerduty");
      const act: IncidentAct = kind === "unacknowledged" ? { kind: "unacknowledge" } : acknowledge;
      const noted: OutsideAct = { id, via: "pagerduty", subject: incidentId, occurredAtMs, atMs: nowMs };
      return carryOut(noted, { incident: found.number, act, author, slugs: null, receiver });
    },
    /** Acknowledges by a link, once. `name`: the name that the person gives; null: none. */
    follow: ({ id, incident, receiver }: ActLink, name: string | null): Promise<OutsideOutcome> => {
      const nowMs = clock.nowMs();
      const author = { ...actor(receiver, "link"), note: name };
      const noted: OutsideAct = { id, via: "link", subject: String(incident), occurredAtMs: nowMs, atMs: nowMs };
      return carryOut(noted, { incident, act: acknowledge, author, slugs: null, receiver });
    },
  };
}

const acknowledge = { kind: "acknowledge", comment: null } as const;

/** A deleted or ended incident gives `no_alert`. */
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

/** Why an act is refused; null: it is not. */
async function refusalOf({ outsideActs }: StoreParts, { via, id, subject, occurredAtMs }: OutsideAct) {
  if (await outsideActs.isNoted(via, id)) return "repeated";
  // Another service's acts may arrive in any order.
  const lastMs = via === "pagerduty" ? await outsideActs.lastOccurredAtMs(via, subject) : null;
  return lastMs !== null && occurredAtMs < lastMs ? "late" : null;
}
