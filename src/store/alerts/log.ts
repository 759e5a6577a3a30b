import { sql } from "kysely";
import { z } from "zod";

import type { JudgementVerdict } from "../../contract/judgement.ts";
import { isAmong } from "../engine/dialect.ts";
import type { Db, RowId } from "../tables.ts";

/** The acts that a comment may come with. */
export type CommentedAct = "acknowledge" | "judgement" | "release" | "silence";

/** Who said something, and when. */
interface Said {
  readonly atMs: number;
  readonly by: string;
  /** What the request claims about its author; not verified. */
  readonly note: string | null;
}

/** A comment of a person on an incident, or on some of its alerts. */
export interface AlertComment extends Said {
  readonly incident: number;
  /** The alerts that it is about; null: all that the incident has. */
  readonly alertIds: readonly string[] | null;
  /** The organization of the one alert that it is about; null: of several. */
  readonly slug: string | null;
  readonly text: string;
  /** The act that it came with; null: it came alone. */
  readonly act: CommentedAct | null;
}

/** One judgement of an alert, or its withdrawal. */
export interface JudgementEntry extends Said {
  /** null: withdrawn. */
  readonly verdict: JudgementVerdict | null;
  readonly comment: string | null;
}

/** How a hold of the gate ended. */
export type GateRelease = "released" | "judged" | "resolved";

/** The end of a hold of the gate by one alert. */
export interface GateReleaseEntry {
  readonly atMs: number;
  readonly how: GateRelease;
  readonly alertId: string;
  /** null: no person did. */
  readonly by: string | null;
  readonly comment: string | null;
}

export interface LogTables {
  readonly alert_log: {
    readonly entryId: RowId;
    readonly event: "comment" | "judgement" | "release";
    readonly atMs: number;
    readonly incidentNumber: number | null;
    /** null: it is about several. */
    readonly alertId: string | null;
    readonly slug: string | null;
    /** The verdict, how it was released, or the act that a comment came with. */
    readonly what: string | null;
    readonly author: string | null;
    readonly note: string | null;
    readonly text: string | null;
    /** A JSON array: the alerts of a comment on several, but not on all. */
    readonly alertIds: string | null;
  };
}

type CommentRow = Pick<
  LogTables["alert_log"],
  "atMs" | "incidentNumber" | "alertId" | "slug" | "what" | "author" | "note" | "text" | "alertIds"
>;
const idsSchema = z.array(z.string());

/** What people and runs did with alerts, over the table `alert_log`. Rows are deleted with their alert or incident. */
export function createAlertLog(db: Db<LogTables>) {
  const rows = (event: LogTables["alert_log"]["event"]) => db.selectFrom("alert_log").where("event", "=", event);
  const comments = () =>
    rows("comment")
      .select(["atMs", "incidentNumber", "alertId", "slug", "what", "author", "note", "text", "alertIds"])
      .orderBy("entryId");
  /** Adds a row for each of these alerts, in one statement. */
  const append = async (
    alertIds: readonly string[],
    row: Pick<LogTables["alert_log"], "event" | "atMs" | "what" | "author" | "note" | "text">,
  ): Promise<void> => {
    const { event, atMs, what, author, note, text } = row;
    await sql`insert into alert_log (event, at_ms, what, author, note, text, alert_id, slug, incident_number)
      select ${event}, ${atMs}, ${what}, ${author}, ${note}, ${text}, id, slug, incident_number
      from alerts where ${isAmong(db, "id", alertIds)} order by id`.execute(db);
  };
  return {
    /** Notes that these were judged; verdict null: the judgement was taken back. */
    judged: (alertIds: readonly string[], { verdict, comment, by, note, atMs }: JudgementEntry): Promise<void> =>
      append(alertIds, { event: "judgement", atMs, what: verdict, author: by, note, text: comment }),
    /** Notes that the gates that these alerts held were released. */
    released: (
      alertIds: readonly string[],
      { how, comment, by, atMs }: Omit<GateReleaseEntry, "alertId">,
    ): Promise<void> =>
      alertIds.length === 0
        ? Promise.resolve()
        : append(alertIds, { event: "release", atMs, what: how, author: by, note: null, text: comment }),
    comment: async ({ incident, alertIds, slug, act, by, ...said }: AlertComment): Promise<void> => {
      const [alertId = null, ...others] = alertIds ?? [];
      const isOfOne = others.length === 0;
      const of = { incidentNumber: incident, alertId: isOfOne ? alertId : null, slug: isOfOne ? slug : null };
      const row = { ...said, ...of, alertIds: isOfOne ? null : JSON.stringify(alertIds), author: by, what: act };
      await db
        .insertInto("alert_log")
        .values({ event: "comment", ...row })
        .execute();
    },
    /** Oldest first. */
    judgementsOf: async (alertId: string): Promise<readonly JudgementEntry[]> =>
      (await rows("judgement")
        .select(["what as verdict", "text as comment", "author as by", "note", "atMs"])
        .where("alertId", "=", alertId)
        .orderBy("entryId")
        .execute()) as JudgementEntry[],
    /** The comments on an alert, and on all alerts of its incident; oldest first. */
    commentsOf: async (alert: {
      readonly id: string;
      readonly incident?: { readonly number: number };
    }): Promise<readonly AlertComment[]> => {
      const found = await comments()
        .where("incidentNumber", "=", alert.incident?.number ?? 0)
        .where((row) => row.or([row("alertId", "is", null), row("alertId", "=", alert.id)]))
        .execute();
      return found.map(commentOf).filter(({ alertIds }) => alertIds?.includes(alert.id) ?? true);
    },
    /** The comments on an incident and on its alerts, oldest first. */
    commentsOfIncident: async (number: number): Promise<readonly AlertComment[]> =>
      (await comments().where("incidentNumber", "=", number).execute()).map(commentOf),
    /** How many comments an incident has, those on its alerts included. */
    countComments: async (incident: number): Promise<number> => {
      const counted = rows("comment").select(({ fn }) => fn.countAll().as("rows"));
      return Number((await counted.where("incidentNumber", "=", incident).executeTakeFirstOrThrow()).rows);
    },
    /** The latest releases of an organization's gate, newest first. */
    releases: async (slug: string, limit: number): Promise<readonly GateReleaseEntry[]> =>
      (await rows("release")
        .select(["atMs", "what as how", "alertId", "author as by", "text as comment"])
        .where("slug", "=", slug)
        .orderBy("atMs", "desc")
        .orderBy("entryId", "desc")
        .limit(limit)
        .execute()) as GateReleaseEntry[],
  };
}

function commentOf({ incidentNumber, alertId, alertIds, what, author, text, ...row }: CommentRow): AlertComment {
  const several = alertIds === null ? null : idsSchema.parse(JSON.parse(alertIds));
  return {
    ...row,
    incident: incidentNumber ?? 0,
    alertIds: alertId === null ? several : [alertId],
    by: author ?? "",
    text: text ?? "",
    act: what as CommentedAct | null,
  };
}
