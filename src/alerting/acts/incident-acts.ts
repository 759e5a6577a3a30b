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
 * Does an act to members of an incident, in the transaction of `parts`, with the same few statements whatever their
 * number. Every act of a person goes through here. Wake the notifier afterwards.
 * @throws FlatlineError not_found for an unknown incident, conflict when it has too many comments, and as planAct
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
  // One act is one notification, however many alerts it is of.
  const told = { ...said, by: describeAuthor(author.name, author.note) };
  await noteAct(parts, settings, { actId: context.newId(), atMs }, entriesOf(act, plan, told));
  return { ...plan, comment };
}

/** What is written of an act: by the audit, with its comment, and to receivers of acts; what a release opens is said of the gates. */
const written = {
  acknowledge: { action: "acknowledge", commented: "acknowledge", event: "acknowledged" },
  unacknowledge: { action: "unacknowledge", commented: null, event: "unacknowledged" },
  judge: { action: "judgement", commented: "judgement", event: "judged" },
  withdraw: { action: "judgement.withdraw", commented: null, event: "judged" },
  release: { action: "release", commented: "release", event: null },
  silence: { action: "silence.create", commented: "silence", event: null },
  comment: { action: "comment", commented: null, event: "commented" },
} as const satisfies Record<IncidentAct["kind"], unknown>;

/** Changes the alerts, or makes the silences. Returns the ids of what it is about, in their order. */
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
    act: written[act.kind].commented,
  };
  await parts.log.comment(comment);
  return comment;
}

/** What receivers are told of an act: what was done to each alert, then what of a gate that opened held it last. */
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
