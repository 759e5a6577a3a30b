import { FlatlineError } from "../../base/errors.ts";
import { literalPattern } from "../../base/text-pattern.ts";
import type { Action } from "../../contract/actor.ts";
import type { AuditAct } from "../../store/acts/audit.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { AlertComment, CommentedAct } from "../../store/alerts/log.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { AlertingSettings } from "../settings.ts";
import { noteAct, type ActEntry } from "../notify/act-news.ts";
import { planAct, type ActFacts, type ActPlan, type IncidentAct, type IncidentActRequest } from "./plan-act.ts";

/** What acts are done with. */
export interface ActContext {
  readonly settings: AlertingSettings;
  readonly nowMs: number;
  readonly newId: () => string;
}

/** What an act did. */
export interface DoneAct extends ActPlan {
  /** The one that is kept of it; null: it came without. */
  readonly comment: AlertComment | null;
}

// All of them are listed; more are not readable.
const mostComments = 1_000;

/** Reads what acts on members of an incident are decided by. @throws FlatlineError not_found for an unknown incident */
export async function readActFacts(
  parts: StoreParts,
  { settings, nowMs }: Pick<ActContext, "settings" | "nowMs">,
  { incident: reference, receiver }: Pick<IncidentActRequest, "incident" | "receiver">,
): Promise<ActFacts> {
  const incident = await parts.incidents.find(reference);
  const members =
    incident === null ? [] : ((await parts.incidents.members([incident.number])).get(incident.number) ?? []);
  if (incident === null || members.length === 0)
    throw new FlatlineError("not_found", "no incident has this number or id");
  return {
    incident,
    members,
    others: await parts.gate.besides(incident.number),
    told: receiver === undefined ? null : await parts.deliveries.toldOf(receiver, incident.number),
    silences: await parts.silences.endingAfter(nowMs),
    settings,
    nowMs,
  };
}

/**
 * Does an act to members of an incident, in the transaction of `parts`, with the same few statements whatever their number. Every
 * act of a person goes through here. Wake the notifier afterwards.
 * @throws FlatlineError not_found for an unknown incident, conflict when it has too many comments, and as planAct
 */
export async function actOnIncident(
  parts: StoreParts,
  context: ActContext,
  request: IncidentActRequest,
): Promise<DoneAct> {
  const { settings, nowMs } = context;
  const plan = planAct(request, await readActFacts(parts, context, request));
  const { changed, ended } = plan;
  const ids = changed.map((alert) => alert.id);
  if (ids.length === 0) return { ...plan, comment: null };
  const { act, author } = request;
  const { action, rows } = await change(parts, context, request, plan);
  await parts.audit.appendEach({ atMs: nowMs, actor: author, action }, rows);
  const said = { by: author.name, comment: "comment" in act ? act.comment : null };
  const [hold] = ended;
  if (hold !== undefined)
    await parts.log.released(
      ended.map((alert) => alert.id),
      { ...said, how: hold.how, atMs: nowMs },
    );
  const comment = said.comment === null ? null : await keepComment(parts, context, request, plan, said.comment);
  // One act is one notification, however many alerts it is of.
  await noteAct(parts, settings, { actId: context.newId(), atMs: nowMs }, entriesOf(act, plan, said));
  return { ...plan, comment };
}

/** Changes the alerts, or makes the silences; returns what the audit has of it, a row for each. */
async function change(
  parts: StoreParts,
  context: ActContext,
  request: IncidentActRequest,
  plan: ActPlan,
): Promise<Audited> {
  const { nowMs, newId } = context;
  const { act, author, receiver } = request;
  const alerts = plan.changed;
  const ids = alerts.map(({ id }) => id);
  const [first] = alerts;
  const { name: by, note } = author;
  const said = {
    ...("comment" in act && act.comment !== null ? { comment: act.comment } : {}),
    incidentId: plan.incident.id,
    ...(receiver === undefined ? {} : { receiver }),
  };
  const each = (detailOf: (alert: Alert) => object): Audited["rows"] =>
    alerts.map((alert) => ({ slug: alert.slug, subject: alert.id, detail: { ...detailOf(alert), ...said } }));
  switch (act.kind) {
    case "acknowledge":
    case "unacknowledge":
      await parts.alerts.acknowledge(ids, first?.acknowledgement ?? null);
      return { action: act.kind, rows: each(({ check, kind, severity }) => ({ check, kind, severity })) };
    case "judge":
    case "withdraw": {
      const judgement = first?.judgement ?? null;
      const { verdict, comment } = judgement ?? { verdict: null, comment: null };
      await parts.alerts.judge(ids, judgement);
      await parts.log.judged(ids, { verdict, comment, by, note, atMs: nowMs });
      const rows = each(({ check, severity }) => ({ check, severity, ...(verdict === null ? {} : { verdict }) }));
      return { action: verdict === null ? "judgement.withdraw" : "judgement", rows };
    }
    case "release":
      await parts.alerts.release(ids, nowMs);
      return { action: "release", rows: each(() => ({})) };
    case "silence": {
      const { endsAtMs, comment } = act;
      const rows = alerts.map(({ slug, check }) => ({ id: newId(), slug: literalPattern(slug), check }));
      const times = { startsAtMs: nowMs, endsAtMs, createdAtMs: nowMs };
      await parts.silences.addEach({ ...times, comment, createdBy: by, note }, rows);
      const detail = { startsAt: new Date(nowMs).toISOString(), endsAt: new Date(endsAtMs).toISOString(), ...said };
      const audited = rows.map(({ id, slug, check }) => ({ slug, subject: id, detail: { check, ...detail } }));
      return { action: "silence.create", rows: audited };
    }
    case "comment":
      return { action: "comment", rows: each(({ check }) => ({ check })) };
    default:
      return act satisfies never;
  }
}

interface Audited {
  readonly action: Action;
  readonly rows: readonly Pick<AuditAct, "slug" | "subject" | "detail">[];
}

const commentedActs: Readonly<Partial<Record<IncidentAct["kind"], CommentedAct>>> = {
  acknowledge: "acknowledge",
  judge: "judgement",
  release: "release",
  silence: "silence",
};

/** Keeps the comment once; one that comes alone and is of all is of those that join later, too. */
async function keepComment(
  parts: StoreParts,
  { nowMs }: ActContext,
  { act, author, slugs, alertId }: IncidentActRequest,
  { incident: { number: incident }, changed }: ActPlan,
  text: string,
): Promise<AlertComment> {
  if ((await parts.log.countComments(incident)) >= mostComments)
    throw new FlatlineError(
      "conflict",
      `the incident has ${mostComments} comments, which is the most that one may have`,
    );
  const [first, ...others] = changed;
  const isOfAll = act.kind === "comment" && slugs === null && alertId === undefined;
  const comment: AlertComment = {
    incident,
    alertIds: isOfAll ? null : changed.map((alert) => alert.id),
    slug: isOfAll || others.length > 0 ? null : (first?.slug ?? null),
    atMs: nowMs,
    by: author.name,
    note: author.note,
    text,
    act: commentedActs[act.kind] ?? null,
  };
  await parts.log.comment(comment);
  return comment;
}

/** What receivers are told of an act: what was done to each alert, then what of a gate that opened held it last. */
function entriesOf(act: IncidentAct, { changed, opened }: ActPlan, said: Pick<ActEntry, "by" | "comment">): ActEntry[] {
  const told = newsOf(act);
  return [
    ...(told === null ? [] : changed.map((alert) => ({ ...told, alert, ...said }))),
    ...opened.map(({ how, ...alert }): ActEntry => {
      const reason = how === "judged" ? "released_by_judgement" : "released_by_hand";
      return { event: "released", reason, alert, ...said };
    }),
  ];
}

function newsOf(act: IncidentAct): Pick<ActEntry, "event" | "reason"> | null {
  switch (act.kind) {
    case "acknowledge":
      return { event: "acknowledged", reason: "acknowledged" };
    case "unacknowledge":
      return { event: "unacknowledged", reason: "unacknowledged" };
    case "judge":
      return { event: "judged", reason: `judged_${act.verdict}` };
    case "withdraw":
      return { event: "judged", reason: "judgement_withdrawn" };
    case "comment":
      return { event: "commented", reason: "commented" };
    // What it opens is said of the gates.
    case "release":
    case "silence":
      return null;
    default:
      return act satisfies never;
  }
}
