import { FlatlineError } from "../../base/errors.ts";
import { literalPattern } from "../../base/text-pattern.ts";
import { minuteMs } from "../../base/time.ts";
import type { Actor } from "../../contract/actor.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import { worstSeverity, type Severity } from "../../contract/severity.ts";
import { longestSilenceMs } from "../../contract/silence.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { failuresIn, type GateFailure } from "../../store/alerts/gate.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { StoredSilence } from "../../store/alerts/silences.ts";
import { changeOfGate, isGateAlert, releaseOf, type EndedHold } from "../decide/gate.ts";
import type { AlertingSettings } from "../settings.ts";

export type IncidentAct =
  | { readonly kind: "acknowledge"; readonly comment: string | null }
  | { readonly kind: "unacknowledge" }
  | { readonly kind: "judge"; readonly verdict: JudgementVerdict; readonly comment: string | null }
  | { readonly kind: "withdraw" }
  | { readonly kind: "release"; readonly comment: string }
  | { readonly kind: "silence"; readonly endsAtMs: number; readonly comment: string }
  | { readonly kind: "comment"; readonly comment: string };

export interface IncidentActRequest {
  /** A number or an id. */
  readonly incident: number | string;
  readonly act: IncidentAct;
  readonly author: Actor;
  /** null: all. */
  readonly slugs: readonly string[] | null;
  /** The only member to act on [all of `slugs`]. */
  readonly alertId?: string;
  /** The receiver whose link or hook is used: only alerts that it was notified of change [none]. */
  readonly receiver?: string;
  /** Also release what a judgement or an end released, so that it stays released if that is withdrawn [false]. */
  readonly isOfGate?: boolean;
}

export type SkipReason = "ended" | "already" | "not_judged_kind" | "not_held" | "judged_apart";

export interface ActedAlert {
  readonly slug: string;
  readonly alertId: string;
}

/** The result of an act that is done or only planned. */
export interface IncidentActResult {
  readonly done: readonly ActedAlert[];
  readonly skipped: readonly (ActedAlert & { readonly reason: SkipReason })[];
  readonly gatesOpened: readonly string[];
  /** The asked organizations whose gates are still held. */
  readonly gatesHeld: readonly string[];
}

export interface ActFacts {
  readonly incident: Incident;
  /** All members, in the order in which they began. */
  readonly members: readonly Alert[];
  /** Failures in other incidents. */
  readonly others: readonly GateFailure[];
  /** The alerts that the receiver was notified of; null: no receiver is used. */
  readonly told: ReadonlySet<string> | null;
  readonly silences: readonly StoredSilence[];
  readonly settings: Pick<AlertingSettings, "gateOf">;
  readonly nowMs: number;
}

export interface ActPlan extends IncidentActResult {
  readonly incident: Incident;
  /** The members that change, as they are afterwards. */
  readonly changed: readonly Alert[];
  /** The failures that no longer hold; `opened`: those of gates that open. */
  readonly ended: readonly EndedHold[];
  readonly opened: readonly EndedHold[];
}

// Covers a request whose answer was lost, and a second click. A later request wants a later end.
const againWithinMs = minuteMs;

/**
 * Returns what an act does to each member that CONTRACT 12, 13 and 15 allow. Dialogs show this plan.
 * @throws FlatlineError invalid_data: a slug is no member, or the family or a time does not allow the act; conflict:
 *   an ended incident cannot be acknowledged or silenced
 */
export function planAct(request: IncidentActRequest, facts: ActFacts): ActPlan {
  const { slugs, alertId } = request;
  const { incident, members, told, settings, nowMs } = facts;
  requireSlugs(request, members);
  requireAct(incident, request.act, nowMs);
  const asked = new Set(slugs);
  const wanted = members.filter(
    (alert) =>
      (slugs === null || asked.has(alert.slug)) &&
      (alertId === undefined || alertId === alert.id) &&
      (told?.has(alert.id) ?? true),
  );
  const step = {
    request,
    facts,
    severity: worstSeverity(members.flatMap((alert) => (alert.end === null ? [alert.severity] : []))),
    isWhole: wanted.length === members.length,
    silenced: silencedKeys(request.act, facts),
  };
  const outcomes = wanted.map((member) => ({ member, outcome: actOnMember(step, member) }));
  const changed = outcomes.flatMap(({ outcome }) => (typeof outcome === "string" ? [] : [outcome]));
  const after = new Map(changed.map((alert) => [alert.id, alert]));
  const failures = Map.groupBy([...failuresIn(members), ...facts.others], (alert) => alert.slug);
  const gates = [...new Set(wanted.map((alert) => alert.slug))].map((slug) => {
    const before = failures.get(slug) ?? [];
    const now = failuresIn(before.map((one) => after.get(one.id) ?? one));
    return { slug, ...changeOfGate(before, now, settings.gateOf(slug)) };
  });
  const opened = gates.filter(({ isOpened }) => isOpened);
  return {
    incident,
    changed,
    done: changed.map(({ slug, id }) => ({ slug, alertId: id })),
    skipped: outcomes.flatMap(({ member: { slug, id }, outcome }) =>
      typeof outcome === "string" ? [{ slug, alertId: id, reason: outcome }] : [],
    ),
    gatesOpened: opened.map(({ slug }) => slug),
    gatesHeld: gates.flatMap(({ slug, isHeld }) => (isHeld ? [slug] : [])),
    ended: gates.flatMap(({ ended }) => ended),
    opened: opened.flatMap(({ ended }) => ended),
  };
}

function requireSlugs({ slugs }: IncidentActRequest, members: readonly Alert[]): void {
  const known = new Set(members.map((alert) => alert.slug));
  const stranger = slugs?.find((slug) => !known.has(slug));
  if (stranger !== undefined)
    throw new FlatlineError("invalid_data", `slugs: ${JSON.stringify(stranger)} is no member of this incident`);
}

// Other families do not question deaths.
const judgedFamilies = ["deaths", "no-events", "regret"];

function requireAct({ family, endedAtMs }: Incident, act: IncidentAct, nowMs: number): void {
  const { kind } = act;
  if (["judge", "withdraw", "release"].includes(kind) && !judgedFamilies.includes(family))
    throw new FlatlineError(
      "invalid_data",
      `an incident of the family ${family} ${kind === "release" ? "holds no gate" : "is not judged"}: ` +
        "it questions no deaths",
    );
  if (kind === "silence" && act.endsAtMs <= nowMs) throw new FlatlineError("invalid_data", "endsAt: has passed");
  if (kind === "silence" && act.endsAtMs - nowMs > longestSilenceMs)
    throw new FlatlineError("invalid_data", "a silence lasts at most 30 days");
  if (endedAtMs !== null && (kind === "acknowledge" || kind === "unacknowledge" || kind === "silence"))
    throw new FlatlineError("conflict", "the incident has ended: nothing of it fires any more");
}

interface Step {
  readonly request: IncidentActRequest;
  readonly facts: ActFacts;
  readonly severity: Severity;
  readonly isWhole: boolean;
  /** Patterns and checks that are silenced long enough already, or by a member before. */
  readonly silenced: Set<string>;
}

/** Returns the member's alert after the act, or why nothing changes. */
function actOnMember(step: Step, alert: Alert): Alert | SkipReason {
  const { request, facts, severity, isWhole, silenced } = step;
  const { act, author, receiver } = request;
  const { nowMs: atMs } = facts;
  const said = { by: author.name, note: author.note, atMs };
  const { judgement, ...unjudged } = alert;
  switch (act.kind) {
    case "acknowledge": {
      if (alert.end !== null) return "ended";
      if (alert.acknowledgement !== null) return "already";
      const acknowledgement = { ...said, comment: act.comment, severity };
      return { ...alert, acknowledgement: receiver === undefined ? acknowledgement : { ...acknowledgement, receiver } };
    }
    case "unacknowledge":
      if (alert.end !== null) return "ended";
      return alert.acknowledgement === null ? "already" : { ...alert, acknowledgement: null };
    case "judge":
      if (!isGateAlert(alert)) return "not_judged_kind";
      if (isJudgedApart(request, alert)) return "judged_apart";
      if (judgement?.verdict === act.verdict) return "already";
      return {
        ...alert,
        judgement: { ...said, verdict: act.verdict, comment: act.comment, ...(isWhole ? { isWhole } : {}) },
      };
    case "withdraw":
      if (!isGateAlert(alert)) return "not_judged_kind";
      if (judgement === undefined) return "already";
      return isJudgedApart(request, alert) ? "judged_apart" : unjudged;
    case "release":
      return release(step, alert);
    case "silence": {
      if (alert.end !== null) return "ended";
      const key = keyOf(literalPattern(alert.slug), alert.check);
      if (silenced.has(key)) return "already";
      silenced.add(key);
      return alert;
    }
    case "comment":
      return alert;
    default:
      return act satisfies never;
  }
}

/** A judgement of the whole incident skips members that were judged alone, unless it names them (CONTRACT 15). */
function isJudgedApart({ slugs, alertId }: IncidentActRequest, { judgement }: Alert): boolean {
  return slugs === null && alertId === undefined && judgement !== undefined && judgement.isWhole !== true;
}

/** Releases this alert's failure; others may still hold the gate. */
function release({ request, facts: { settings, nowMs } }: Step, alert: Alert): Alert | SkipReason {
  const [failed] = failuresIn([alert]);
  if (failed === undefined) return "not_held";
  const how = releaseOf(failed, settings.gateOf(alert.slug));
  if (how === "released" || (how !== null && request.isOfGate !== true)) return "already";
  return { ...alert, failure: { ...failed.failure, releasedAtMs: nowMs } };
}

function silencedKeys(act: IncidentAct, { silences, nowMs }: ActFacts): Set<string> {
  if (act.kind !== "silence") return new Set();
  const { endsAtMs } = act;
  // A repeated request with a duration ends a little later than the first.
  const enoughMs = endsAtMs - Math.min(againWithinMs, (endsAtMs - nowMs) / 10);
  const long = silences.filter((one) => one.startsAtMs <= nowMs && one.endsAtMs >= enoughMs);
  return new Set(long.map(({ slug, check }) => keyOf(slug, check)));
}

function keyOf(pattern: string, check: string | null): string {
  return JSON.stringify([pattern, check]);
}
