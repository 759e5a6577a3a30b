import { FlatlineError } from "../../base/errors.ts";
import { literalPattern } from "../../base/text-pattern.ts";
import { describeAuthor } from "../../contract/actor.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { AlertComment } from "../../store/alerts/log.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Reason } from "../decide/reasons.ts";
import type { AlertingSettings } from "../settings.ts";
import { noteAct, type ActEntry } from "../notify/act-news.ts";
import { planAct, type ActFacts, type ActPlan, type IncidentAct, type IncidentActRequest } from "./plan-act.ts";

export interface ActContext {
  readonly settings: AlertingSettings;
  readonly nowMs: number;
  readonly newId: () => string;
}

export interface DoneAct extends ActPlan {
  /** The stored comment; null: none. */
  readonly comment: AlertComment | null;
}

// Lists show all of them.
const mostComments = 1_000;

/** The error for a number or an id that no incident has. */
export function noIncident(): FlatlineError {
  const text = "no incident has this number or id: `flatline incidents list --state all` shows them";
  return new FlatlineError("not_found", text);
}

/** Reads what planAct needs. @throws FlatlineError not_found: no such incident */
export async function readActFacts(
  parts: StoreParts,
  { settings, nowMs }: Pick<ActContext, "settings" | "nowMs">,
  { incident: reference, receiver }: Pick<IncidentActRequest, "incident" | "receiver">,
): Promise<ActFacts> {
  const incident = await parts.incidents.find(reference);
  const members =
    incident === null ? [] : ((await parts.incidents.members([incident.number])).get(incident.number) ?? []);
  if (incident === null || members.length === 0) throw noIncident();
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
 * Applies an act to members of an incident within the transaction of `parts`, in a few statements for any number. All
 * acts of people use it. Wake the notifier afterwards.
 * @throws FlatlineError not_found: no such incident; conflict: too many comments; else as planAct
 */
export async function actOnIncident(
  parts: StoreParts,
  context: ActContext,
  request: IncidentActRequest,
): Promise<DoneAct> {
  const { settings, nowMs: atMs } = context;
  const plan = planAct(request, await readActFacts(parts, context, request));
  const { changed, ended, incident } = plan;
  if (changed.length === 0) return { ...plan, comment: null };
  const { act, author, receiver } = request;
  const said = { by: author.name, comment: "comment" in act ? act.comment : null };
  const subjects = await change(parts, context, request, plan);
  const detail = {
    ...(act.kind === "judge" ? { verdict: act.verdict } : {}),
    ...(act.kind === "silence"
      ? { startsAt: new Date(atMs).toISOString(), endsAt: new Date(act.endsAtMs).toISOString() }
      : {}),
    ...(said.comment === null ? {} : { comment: said.comment }),
    incidentId: incident.id,
    ...(receiver === undefined ? {} : { receiver }),
  };
  await parts.audit.appendEach(
    { atMs, actor: author, action: written[act.kind].action },
    changed.map(({ slug, check, kind, severity }, index) => {
      return { slug, subject: subjects[index] ?? null, detail: { check, kind, severity, ...detail } };
    }),
  );
  const [hold] = ended;
  if (hold !== undefined)
    await parts.log.released(
      ended.map((alert) => alert.id),
      { ...said, how: hold.how, atMs },
    );
  const comment = said.comment === null ? null : await keepComment(parts, context, request, plan, said.comment);
  // One act is one notification, for any number of alerts.
  const told = { ...said, by: describeAuthor(author.name, author.note) };
  await noteAct(parts, settings, { actId: context.newId(), atMs }, entriesOf(act, plan, told));
  return { ...plan, comment };
}

/** The names of an act in the audit, in comments and in notifications. An opened gate has its own event. */
const written = {
  acknowledge: { action: "acknowledge", commented: "acknowledge", event: "acknowledged" },
  unacknowledge: { action: "unacknowledge", commented: null, event: "unacknowledged" },
  judge: { action: "judgement", commented: "judgement", event: "judged" },
  withdraw: { action: "judgement.withdraw", commented: null, event: "judged" },
  release: { action: "release", commented: "release", event: null },
  silence: { action: "silence.create", commented: "silence", event: null },
  comment: { action: "comment", commented: null, event: "commented" },
} as const satisfies Record<IncidentAct["kind"], unknown>;

/** Changes the alerts or adds the silences. Returns the ids of these, in order. */
async function change(
  parts: StoreParts,
  { nowMs: atMs, newId }: ActContext,
  { act, author: { name: by, note } }: IncidentActRequest,
  { changed }: ActPlan,
): Promise<readonly string[]> {
  const ids = changed.map(({ id }) => id);
  const { acknowledgement = null, judgement = null } = changed[0] ?? {};
  switch (act.kind) {
    case "acknowledge":
    case "unacknowledge":
      await parts.alerts.acknowledge(ids, acknowledgement);
      return ids;
    case "judge":
    case "withdraw": {
      const { verdict, comment } = judgement ?? { verdict: null, comment: null };
      await parts.alerts.judge(ids, judgement);
      await parts.log.judged(ids, { verdict, comment, by, note, atMs });
      return ids;
    }
    case "release":
      await parts.alerts.release(ids, atMs);
      return ids;
    case "silence": {
      const { endsAtMs, comment } = act;
      const rows = changed.map(({ slug, check }) => ({ id: newId(), slug: literalPattern(slug), check }));
      const times = { startsAtMs: atMs, endsAtMs, createdAtMs: atMs };
      await parts.silences.addEach({ ...times, comment, createdBy: by, note }, rows);
      return rows.map(({ id }) => id);
    }
    case "comment":
      return ids;
    default:
      return act satisfies never;
  }
}

/** Stores the comment once. A comment on the whole incident is also for members that join later. */
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
    act: written[act.kind].commented,
  };
  await parts.log.comment(comment);
  return comment;
}

/** The news of an act: first each changed alert, then the last failures that held the opened gates. */
function entriesOf(act: IncidentAct, { changed, opened }: ActPlan, said: Pick<ActEntry, "by" | "comment">): ActEntry[] {
  const { event } = written[act.kind];
  return [
    ...(event === null ? [] : changed.map((alert) => ({ event, reason: reasonOf(event, alert), alert, ...said }))),
    ...opened.map(({ how, ...alert }): ActEntry => {
      const reason = how === "judged" ? "released_by_judgement" : "released_by_hand";
      return { event: "released", reason, alert, ...said };
    }),
  ];
}

function reasonOf(event: Exclude<ActEntry["event"], "released">, { judgement }: Alert): Reason {
  if (event !== "judged") return event;
  return judgement === undefined ? "judgement_withdrawn" : `judged_${judgement.verdict}`;
}
