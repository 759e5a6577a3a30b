import { FlatlineError } from "../../base/errors.ts";
import { literalPattern } from "../../base/text-pattern.ts";
import { dayMs, minuteMs } from "../../base/time.ts";
import type { Actor } from "../../contract/actor.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import { worstSeverity } from "../../contract/severity.ts";
import type { KeptAlert } from "../../store/alerts/alerts.ts";
import type { CommentedAct } from "../../store/alerts/comments.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { acknowledgeIn } from "../acknowledge.ts";
import { holdingFailures, isGateAlert, wouldOpen } from "../decide/gate.ts";
import { slugsOf } from "../incident-summary.ts";
import { unacknowledgeIn } from "../unacknowledge.ts";
import { noteActNotice, releasedEntries, type ActEntry, type NoteEntries } from "./act-notice.ts";
import { commentEntry, keepComment, mostComments } from "./comment.ts";
import { changeGate } from "./gate-change.ts";
import { judgeIn, type ActContext } from "./judge.ts";

/** What can be done to an incident: the same as to an alert, to each of its members. */
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
  readonly incident: number;
  readonly act: IncidentAct;
  readonly author: Actor;
  /** null: all. */
  readonly slugs: readonly string[] | null;
  /** The receiver through whose link or hook it comes: it acts on what that was notified of [not through one]. */
  readonly receiver?: string;
  /** Answers what it would do, and changes nothing. */
  readonly isDryRun: boolean;
}

/** Why an act left a member as it was. */
export type SkipReason = "ended" | "already" | "not_judged_kind" | "not_held";

/** An organization's alert in an incident. */
export interface ActedAlert {
  readonly slug: string;
  readonly alertId: string;
}

/** What an act did, or with a dry run would do. */
export interface IncidentActResult {
  readonly done: readonly ActedAlert[];
  readonly skipped: readonly (ActedAlert & { readonly reason: SkipReason })[];
  readonly gatesOpened: readonly string[];
  /** Gates of the organizations that it was asked for which are held afterwards. */
  readonly gatesHeld: readonly string[];
}

export interface IncidentActContext extends ActContext {
  /** Ids of silences, unique over all time. */
  readonly newId: () => string;
}

// Longer ones belong into the configuration, where somebody sees them (CONTRACT 15).
const longestSilenceMs = 30 * dayMs;
// A request whose answer was lost, or a second click; who asks later wants a later end.
const againWithinMs = minuteMs;
// A transaction holds the store's lock: some milliseconds of work at a time.
const organizationsPerTransaction = 200;

/**
 * Does an act to each member of an incident that CONTRACT 12 and 13 allow it for. What was done before a crash stays done, and
 * asked again it is `already`. Wake the notifier afterwards.
 * @throws FlatlineError not_found for an unknown incident; invalid_data for a slug that is no member, or an act that its family
 *   does not have; conflict for an acknowledgement or silence of one that has ended. Nothing is done then.
 */
export async function actOnIncident(
  context: IncidentActContext,
  request: IncidentActRequest,
): Promise<IncidentActResult> {
  const { store } = context;
  const incident = await store.incidents.find(request.incident);
  const all = (await store.incidents.members([request.incident])).get(request.incident) ?? [];
  if (incident === null || all.length === 0) throw new FlatlineError("not_found", "no incident has this number or id");
  requireSlugs(request, all);
  requireAct(incident, request.act, context.nowMs);
  const wanted = all.filter(({ alert }) => request.slugs?.includes(alert.slug) ?? true);
  // What two of its alerts do to the gate of an organization is foreseen in one transaction, too.
  const organizations = [...Map.groupBy(wanted, ({ alert }) => alert.slug).values()];
  const results: IncidentActResult[] = [];
  for (let start = 0; start < organizations.length; start += organizationsPerTransaction) {
    const end = start + organizationsPerTransaction;
    const some = organizations.slice(start, end).flat();
    const isLast = end >= organizations.length;
    const doneBefore = results.flatMap(({ done }) => done);
    const step = { some, isLast, doneBefore };
    results.push(await inTransaction(context, request, (parts) => actOnSome(parts, context, request, step)));
  }
  const gatesOpened = [...new Set(results.flatMap((one) => one.gatesOpened))];
  return {
    done: results.flatMap(({ done }) => done),
    skipped: results.flatMap(({ skipped }) => skipped),
    gatesOpened,
    gatesHeld: [...new Set(results.flatMap((one) => one.gatesHeld))].filter((slug) => !gatesOpened.includes(slug)),
  };
}

/** A dry run does it all and takes it back: what a dialog shows is what the act does. */
async function inTransaction(
  { store }: IncidentActContext,
  { isDryRun }: IncidentActRequest,
  work: (parts: StoreParts) => Promise<IncidentActResult>,
): Promise<IncidentActResult> {
  let foreseen: IncidentActResult | null = null;
  try {
    return await store.transaction(async (parts) => {
      const result = await work(parts);
      if (!isDryRun) return result;
      foreseen = result;
      throw new FlatlineError("conflict", "a dry run is rolled back");
    });
  } catch (error) {
    if (foreseen !== null) return foreseen;
    throw error;
  }
}

function requireSlugs({ slugs }: IncidentActRequest, members: readonly KeptAlert[]): void {
  const stranger = slugs?.find((slug) => !members.some(({ alert }) => alert.slug === slug));
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
    throw new FlatlineError("invalid_data", "a silence of an incident lasts at most 30 days");
  if (endedAtMs !== null && (kind === "acknowledge" || kind === "unacknowledge" || kind === "silence"))
    throw new FlatlineError("conflict", "the incident has ended: nothing of it fires any more");
}

interface Some {
  readonly some: readonly KeptAlert[];
  /** The comment is kept with the last. */
  readonly isLast: boolean;
  readonly doneBefore: readonly ActedAlert[];
}

async function actOnSome(
  parts: StoreParts,
  context: IncidentActContext,
  request: IncidentActRequest,
  { some, isLast, doneBefore }: Some,
): Promise<IncidentActResult> {
  const { act, receiver } = request;
  // Read again: it may have ended, or been acted on, since the request was looked at.
  const found = await parts.incidents.find(request.incident);
  if (found === null) throw new FlatlineError("not_found", "no incident has this number or id");
  const members = (await parts.incidents.members([found.number])).get(found.number) ?? [];
  const ids = new Set(some.map(({ alert }) => alert.id));
  const told = receiver === undefined ? new Map() : await parts.deliveries.notifiedOf([...ids]);
  const own: KeptAlert[] = [];
  for (const member of members) {
    if (!ids.has(member.alert.id)) continue;
    if (receiver === undefined || told.get(member.alert.id)?.has(receiver) === true) own.push(member);
  }
  const firing = members.filter(({ end }) => end === null);
  const severity = worstSeverity(firing.map(({ alert }) => alert.severity));
  const entries: ActEntry[] = [];
  const note: NoteEntries = async (some) => void entries.push(...some);
  const step = { parts, context, request, incident: found, severity, note };
  const done: ActedAlert[] = [];
  const skipped: (ActedAlert & { readonly reason: SkipReason })[] = [];
  const opened: string[] = [];
  for (const member of own) {
    const { id: alertId, slug } = member.alert;
    const outcome = await actOnMember(step, member);
    if (typeof outcome === "string") skipped.push({ slug, alertId, reason: outcome });
    else {
      done.push({ slug, alertId });
      if (outcome.isOpened) opened.push(slug);
    }
  }
  // One act is one notification, however many alerts it is of.
  const { settings, nowMs } = context;
  await noteActNotice(parts, { settings, slug: `incident ${found.number}`, nowMs }, entries);
  const alertIds = act.kind === "comment" ? null : [...doneBefore, ...done].map(({ alertId }) => alertId);
  if (isLast) await keepIncidentComment(step, alertIds);
  const held: string[] = [];
  for (const slug of slugsOf(own)) {
    const failures = await parts.gate.failures(slug);
    if (holdingFailures(failures, context.settings.gateOf(slug)).length > 0) held.push(slug);
  }
  return { done, skipped, gatesOpened: [...new Set(opened)], gatesHeld: held };
}

interface Step {
  readonly parts: StoreParts;
  readonly context: IncidentActContext;
  readonly request: IncidentActRequest;
  readonly incident: Incident;
  /** The incident's, before the act. */
  readonly severity: ReturnType<typeof worstSeverity>;
  readonly note: NoteEntries;
}

/** Whether the gate of its organization opened with it; or why the member is left as it is. */
async function actOnMember(
  step: Step,
  { alert, end }: KeptAlert,
): Promise<SkipReason | { readonly isOpened: boolean }> {
  const { parts, context, request, incident, severity, note } = step;
  const { act, author, receiver } = request;
  const { id: alertId, slug } = alert;
  const facts = receiver === undefined ? {} : { receiver };
  const { id: incidentId } = incident;
  switch (act.kind) {
    case "acknowledge": {
      if (end !== null) return "ended";
      if (alert.acknowledgement !== null) return "already";
      const { comment } = act;
      const ofIncident = { id: incidentId, severity };
      await acknowledgeIn(parts, context, { alertId, author, comment, receiver, incident: ofIncident, note });
      return { isOpened: false };
    }
    case "unacknowledge":
      if (end !== null) return "ended";
      if (alert.acknowledgement === null) return "already";
      await unacknowledgeIn(parts, {
        alertId,
        author,
        nowMs: context.nowMs,
        facts: { ...facts, incidentId },
        settings: context.settings,
        note,
      });
      return { isOpened: false };
    case "judge": {
      if (!isGateAlert(alert)) return "not_judged_kind";
      if (alert.judgement?.verdict === act.verdict) return "already";
      const isOpened = wouldOpen(await parts.gate.failures(slug), alertId, act.verdict, context.settings.gateOf(slug));
      await judgeIn(parts, context, {
        alertId,
        verdict: act.verdict,
        author,
        comment: act.comment,
        incidentId,
        note,
      });
      return { isOpened };
    }
    case "withdraw":
      if (!isGateAlert(alert)) return "not_judged_kind";
      if (alert.judgement === undefined) return "already";
      await judgeIn(parts, context, { alertId, verdict: null, author, comment: null, incidentId, note });
      return { isOpened: false };
    case "release":
      return releaseHold(step, { alert, end }, act.comment);
    case "silence":
      return end === null ? silence(step, alert, act) : "ended";
    case "comment": {
      await note([commentEntry({ alert, end }, author, act.comment)]);
      const detail = { check: alert.check, comment: act.comment, incidentId };
      await parts.audit.append({
        atMs: context.nowMs,
        actor: author,
        action: "comment",
        slug,
        subject: alertId,
        detail,
      });
      return { isOpened: false };
    }
    default:
      return act satisfies never;
  }
}

/** Releases what this alert holds; what others hold stays. */
async function releaseHold(
  { parts, context, request, incident, note }: Step,
  { alert: { id: alertId, slug } }: KeptAlert,
  comment: string,
): Promise<SkipReason | { readonly isOpened: boolean }> {
  const { settings, nowMs } = context;
  const { author } = request;
  const { name: by } = author;
  const isOwn = ({ alert }: GateFailure): boolean => alert.id === alertId;
  const failures = await parts.gate.failures(slug);
  if (!failures.some(isOwn)) return "not_held";
  if (!holdingFailures(failures, settings.gateOf(slug)).some(isOwn)) return "already";
  const { opened } = await changeGate(parts, { slug, settings, by, comment, nowMs }, async () => {
    await parts.alerts.release([alertId], nowMs);
    await parts.gate.addRelease({ slug, atMs: nowMs, how: "released", alertId, by, comment });
  });
  await note(releasedEntries(opened, { by, comment }));
  const detail = { comment, incidentId: incident.id };
  await parts.audit.append({ atMs: nowMs, actor: author, action: "release", slug, subject: alertId, detail });
  return { isOpened: opened.length > 0 };
}

/** One silence for each check of an organization, from now on. */
async function silence(
  { parts, context, request, incident }: Step,
  { slug, check }: KeptAlert["alert"],
  { endsAtMs, comment }: { readonly endsAtMs: number; readonly comment: string },
): Promise<SkipReason | { readonly isOpened: boolean }> {
  const { nowMs } = context;
  const { name: createdBy, note } = request.author;
  const pattern = literalPattern(slug);
  const stored = await parts.silences.endingAfter(nowMs);
  // One that was asked for by its length, and is asked for again, ends a little earlier.
  const enoughMs = endsAtMs - Math.min(againWithinMs, (endsAtMs - nowMs) / 10);
  const isSilenced = stored.some(
    (one) => one.slug === pattern && one.check === check && one.startsAtMs <= nowMs && one.endsAtMs >= enoughMs,
  );
  if (isSilenced) return "already";
  const id = context.newId();
  const times = { startsAtMs: nowMs, endsAtMs, createdAtMs: nowMs };
  await parts.silences.add({ id, slug: pattern, check, comment, createdBy, note, ...times });
  const iso = (atMs: number): string => new Date(atMs).toISOString();
  const detail = { check, startsAt: iso(nowMs), endsAt: iso(endsAtMs), comment, incidentId: incident.id };
  const { author } = request;
  await parts.audit.append({
    atMs: nowMs,
    actor: author,
    action: "silence.create",
    slug: pattern,
    subject: id,
    detail,
  });
  return { isOpened: false };
}

const commentedActs: Readonly<Partial<Record<IncidentAct["kind"], CommentedAct>>> = {
  acknowledge: "acknowledge",
  judge: "judgement",
  release: "release",
  silence: "silence",
};

/** Keeps the comment once, with the incident. */
async function keepIncidentComment(
  { parts, context, request, incident }: Step,
  alertIds: readonly string[] | null,
): Promise<void> {
  const { act, author } = request;
  const text = "comment" in act ? act.comment : null;
  if (text === null || alertIds?.length === 0) return;
  if ((await parts.comments.count({ incident: incident.number })) >= mostComments)
    throw new FlatlineError(
      "conflict",
      `the incident has ${mostComments} comments, which is the most that one may have`,
    );
  const { nowMs } = context;
  const of = { number: incident.number, alertIds };
  const kept = { alertId: null, slug: null, author, text, nowMs, act: commentedActs[act.kind] ?? null, incident: of };
  await keepComment(parts, kept);
}
