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

/** What can be done to an incident: to each of its members, or to some. */
export type IncidentAct =
  | { readonly kind: "acknowledge"; readonly comment: string | null }
  | { readonly kind: "unacknowledge" }
  | { readonly kind: "judge"; readonly verdict: JudgementVerdict; readonly comment: string | null }
  | { readonly kind: "withdraw" }
  | { readonly kind: "release"; readonly comment: string }
  | { readonly kind: "silence"; readonly endsAtMs: number; readonly comment: string }
  | { readonly kind: "comment"; readonly comment: string };

/** The author of an act, and the members that it is for. */
export interface IncidentActRequest {
  /** Its number or id. */
  readonly incident: number | string;
  readonly act: IncidentAct;
  readonly author: Actor;
  /** null: all. */
  readonly slugs: readonly string[] | null;
  /** The one member that it is for [all that `slugs` say]. */
  readonly alertId?: string;
  /** The receiver through whose link or hook it comes: it acts on what that was notified of [not through one]. */
  readonly receiver?: string;
  /** Releases also what a judgement or an end has released, so that it is not held again when that is taken back [it does not]. */
  readonly isOfGate?: boolean;
}

/** Why an act left a member as it was. */
export type SkipReason = "ended" | "already" | "not_judged_kind" | "not_held" | "judged_apart";

/** An organization's alert in an incident. */
export interface ActedAlert {
  readonly slug: string;
  readonly alertId: string;
}

/** What an act did, or would do. */
export interface IncidentActResult {
  readonly done: readonly ActedAlert[];
  readonly skipped: readonly (ActedAlert & { readonly reason: SkipReason })[];
  readonly gatesOpened: readonly string[];
  /** Gates of the organizations that it was asked for which are held afterwards. */
  readonly gatesHeld: readonly string[];
}

/** What an act is decided by. */
export interface ActFacts {
  readonly incident: Incident;
  /** All of the incident, in the order in which they began. */
  readonly members: readonly Alert[];
  /** Failures of the same organizations in other incidents. */
  readonly others: readonly GateFailure[];
  /** The alerts that the receiver was notified of; null: it comes through none. */
  readonly told: ReadonlySet<string> | null;
  readonly silences: readonly StoredSilence[];
  readonly settings: Pick<AlertingSettings, "gateOf">;
  readonly nowMs: number;
}

/** What an act does. */
export interface ActPlan extends IncidentActResult {
  readonly incident: Incident;
  /** The members that it is done to, as they are afterwards. */
  readonly changed: readonly Alert[];
  /** The holds that it ends, and those of gates that open with it. */
  readonly ended: readonly EndedHold[];
  readonly opened: readonly EndedHold[];
}

// A request whose answer was lost, or a second click; who asks later wants a later end.
const againWithinMs = minuteMs;

/**
 * Returns what an act does to each member of an incident that CONTRACT 12, 13 and 15 allow it for: what a dialog shows
 * is what the act does.
 * @throws FlatlineError invalid_data for a slug that is no member, or an act that the family does not have; conflict for an
 *   acknowledgement or silence of one that has ended
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

// Others question no deaths.
const judgedFamilies = ["deaths", "no-events", "regret"];

function requireAct({ family, endedAtMs }: Incident, act: IncidentAct, nowMs: number): void {
  const { kind } = act;
  if (["judge", "withdraw", "release"].includes(kind) && !judgedFamilies.includes(family))
    throw new FlatlineError(
      "invalid_data",
      `an incident of the family ${family} ${kind === "release" ? "holds no gate" : "is not judged"}: it questions no deaths`,
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
  /** The patterns and checks that are silenced long enough. */
  readonly silenced: ReadonlySet<string>;
}

/** The member's alert after the act; or why it is left as it is. */
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
    case "silence":
      if (alert.end !== null) return "ended";
      return silenced.has(keyOf(literalPattern(alert.slug), alert.check)) ? "already" : alert;
    case "comment":
      return alert;
    default:
      return act satisfies never;
  }
}

/** A judgement of the whole incident leaves those that were judged apart, unless they are named (CONTRACT 15). */
function isJudgedApart({ slugs, alertId }: IncidentActRequest, { judgement }: Alert): boolean {
  return slugs === null && alertId === undefined && judgement !== undefined && judgement.isWhole !== true;
}

/** Releases what this alert holds; what others hold stays. */
function release({ request, facts: { settings, nowMs } }: Step, alert: Alert): Alert | SkipReason {
  const [failed] = failuresIn([alert]);
  if (failed === undefined) return "not_held";
  const how = releaseOf(failed, settings.gateOf(alert.slug));
  if (how === "released" || (how !== null && request.isOfGate !== true)) return "already";
  return { ...alert, failure: { ...failed.failure, releasedAtMs: nowMs } };
}

function silencedKeys(act: IncidentAct, { silences, nowMs }: ActFacts): ReadonlySet<string> {
  if (act.kind !== "silence") return new Set();
  const { endsAtMs } = act;
  // One that was asked for by its length, and is asked for again, ends a little earlier.
  const enoughMs = endsAtMs - Math.min(againWithinMs, (endsAtMs - nowMs) / 10);
  const long = silences.filter((one) => one.startsAtMs <= nowMs && one.endsAtMs >= enoughMs);
  return new Set(long.map(({ slug, check }) => keyOf(slug, check)));
}

function keyOf(pattern: string, check: string | null): string {
  return JSON.stringify([pattern, check]);
}
