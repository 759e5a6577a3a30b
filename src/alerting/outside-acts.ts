import { FlatlineError } from "../base/errors.ts";
import { literalPattern } from "../base/text-pattern.ts";
import { hourMs, type Clock } from "../base/time.ts";
import { actor, type Actor } from "../contract/actor.ts";
import type { OutsideAct } from "../store/acts/outside-acts.ts";
import type { AlertState } from "../store/alerts/alerts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { Store } from "../store/store.ts";
import { acknowledgeAlert } from "./acknowledge.ts";
import type { ActLink } from "./act-link.ts";
import { isGateAlert } from "./decide/gate.ts";
import type { AlertingSettings } from "./settings.ts";
import type { SilenceBook } from "./silence-book.ts";
import { unacknowledgeAlert } from "./unacknowledge.ts";

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
export type OutsideOutcome = "applied" | "repeated" | "late" | "no_alert" | "unchanged" | "opens_gate";

/** Acts that come from where people read their messages (CONTRACT 13). */
export interface OutsideActs {
  /**
   * Applies what was done to the incident that an alert opened at this receiver; resolved acknowledges, because the service does
   * not know whether the alert ended.
   */
  applyIncident(incident: OutsideIncident): Promise<OutsideOutcome>;
  /** Does what the link is for, once. */
  follow(link: ActLink): Promise<OutsideOutcome>;
  /** What following the link would do now; changes nothing. */
  foresee(link: ActLink): Promise<{ readonly outcome: OutsideOutcome; readonly alert: AlertState | null }>;
}

export interface OutsideActsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Those that hold now. */
  readonly settings: () => AlertingSettings;
  /** Whether an acknowledgement releases the organization's gate. */
  readonly acknowledgementOpensGate: (slug: string) => boolean;
  /** A book that writes in the given store. */
  readonly silencesOf: (store: Store) => Pick<SilenceBook, "add">;
  /** Called after a change. */
  readonly onChange: () => void;
}

/** For how long a link silences. */
export const linkSilenceMs = hourMs;

/** Acts over the store: each is carried out once, in the transaction that notes its id. */
export function createOutsideActs({
  store,
  clock,
  settings,
  acknowledgementOpensGate,
  silencesOf,
  onChange,
}: OutsideActsOptions): OutsideActs {
  /** Does `work` with a store whose transactions first note the act, so that a repeated or late one changes nothing. */
  async function carryOut(act: OutsideAct, work: (noting: Store) => Promise<unknown>): Promise<OutsideOutcome> {
    let refusal: OutsideOutcome | null = null;
    const transaction: Store["transaction"] = (own, reads) =>
      store.transaction(async (parts) => {
        refusal = await noteAct(parts, act);
        if (refusal !== null) throw new FlatlineError("conflict", "the act was carried out before");
        return own(parts);
      }, reads);
    try {
      await work({ ...store, transaction });
    } catch (error) {
      if (refusal !== null) return refusal;
      // It ended, or was taken back, between the look and the act.
      if (error instanceof FlatlineError && error.code === "not_found") return "no_alert";
      if (error instanceof FlatlineError && error.code === "conflict") return "unchanged";
      if (error instanceof FlatlineError && error.code === "forbidden") return "opens_gate";
      throw error;
    }
    onChange();
    return "applied";
  }

  function obstacle(
    alert: AlertState | null,
    wanted: "acknowledge" | "unacknowledge" | "silence",
  ): OutsideOutcome | null {
    if (alert === null || alert.state !== "firing") return "no_alert";
    if (wanted === "silence") return null;
    if ((alert.acknowledgement !== null) === (wanted === "acknowledge")) return "unchanged";
    return wanted === "acknowledge" && opensGate(alert, acknowledgementOpensGate) ? "opens_gate" : null;
  }

  async function foresee(link: ActLink): ReturnType<OutsideActs["foresee"]> {
    const alert = await store.alerts.byId(link.alertId);
    if (await store.outsideActs.isNoted("link", link.id)) return { outcome: "repeated", alert };
    return { outcome: obstacle(alert, link.act) ?? "applied", alert };
  }

  return {
    foresee,
    applyIncident: async ({ id, receiver, incidentKey, kind, person, ...incident }) => {
      const wanted = kind === "unacknowledged" ? "unacknowledge" : "acknowledge";
      const nowMs = clock.nowMs();
      // A clock that is ahead there must not make everything that follows late.
      const occurredAtMs = Math.min(incident.occurredAtMs, nowMs);
      // This secret gives no right over alerts that were sent to other receivers only.
      if (!(await store.notices.isSent(receiver, incidentKey))) return "no_alert";
      const found = obstacle(await store.alerts.byId(incidentKey), wanted);
      if (found !== null && found !== "unchanged") return found;
      const act: OutsideAct = { id, via: "pagerduty", alertId: incidentKey, occurredAtMs, atMs: nowMs };
      const author: Actor = actor(`PagerDuty: ${person ?? "no name"}`, "pagerduty");
      const target = { alertId: incidentKey, author, nowMs, facts: { receiver } };
      const outcome = await carryOut(act, async (noting) => {
        // What changes nothing counts for the order of what comes later.
        if (found === "unchanged") await noting.transaction(async () => undefined);
        else if (wanted === "unacknowledge") await unacknowledgeAlert(noting, target);
        else {
          const act = { alertId: incidentKey, author, comment: null, mayOpenGate: false, facts: { receiver } };
          await acknowledgeAlert({ store: noting, settings: settings(), nowMs }, act);
        }
      });
      return outcome === "applied" ? (found ?? outcome) : outcome;
    },
    follow: async (link) => {
      const { outcome, alert } = await foresee(link);
      if (outcome !== "applied" || alert === null) return outcome;
      const { alertId, receiver } = link;
      const nowMs = clock.nowMs();
      const author = actor(receiver, "link");
      const act: OutsideAct = { id: link.id, via: "link", alertId, occurredAtMs: nowMs, atMs: nowMs };
      return carryOut(act, async (noting) => {
        if (link.act === "acknowledge") {
          const acknowledgement = { alertId, author, comment: null, mayOpenGate: false };
          return acknowledgeAlert({ store: noting, settings: settings(), nowMs }, acknowledgement);
        }
        const { slug, check } = alert;
        const span = { startsAtMs: nowMs, endsAtMs: nowMs + linkSilenceMs };
        const comment = `by a link in a message to ${receiver}`;
        return silencesOf(noting).add({ slug: literalPattern(slug), check, ...span, comment }, author);
      });
    },
  };
}

/** Returns whether an acknowledgement would release what this alert holds. */
export function opensGate(
  {
    check,
    kind,
    slug,
    severity,
    peak,
  }: Pick<AlertState, "check" | "kind" | "slug" | "severity"> & {
    readonly peak: { readonly severity: AlertState["severity"] } | null;
  },
  acknowledgementOpensGate: (slug: string) => boolean,
): boolean {
  const hasFailed = severity === "fail" || peak?.severity === "fail";
  return isGateAlert({ check, kind }) && hasFailed && acknowledgementOpensGate(slug);
}

/** Notes the act; why it is not to be carried out, else null. */
async function noteAct({ outsideActs }: StoreParts, act: OutsideAct): Promise<"repeated" | "late" | null> {
  // A link is followed when it is followed; another service's words may arrive in any order.
  const lastMs = act.via === "pagerduty" ? await outsideActs.lastOccurredAtMs(act.via, act.alertId) : null;
  if (!(await outsideActs.note(act))) return "repeated";
  return lastMs !== null && act.occurredAtMs < lastMs ? "late" : null;
}
