import { z } from "zod";

import type { Db, RowId } from "../tables.ts";

/** The acts that a comment may come with. */
export type CommentedAct = "acknowledge" | "judgement" | "release" | "silence";

/** A comment of a person on an alert, or on an incident. */
export interface AlertComment {
  /** null: it is of an incident. */
  readonly alertId: string | null;
  /** The alert's organization; null: it is of an incident. */
  readonly slug: string | null;
  readonly atMs: number;
  readonly by: string;
  /** The author that the request names in addition; not authenticated. */
  readonly note: string | null;
  readonly text: string;
  /** The act that it came with; null: it came alone. */
  readonly act: CommentedAct | null;
  /** The incident that it is of [none]. */
  readonly incident?: {
    readonly number: number;
    /** The alerts that the act was done to; null: it is of all that the incident has. */
    readonly alertIds: readonly string[] | null;
  };
}

/** The alert of a question for comments: its own, and those of its incident that are about it. */
export interface CommentedAlert {
  readonly id: string;
  readonly incident?: { readonly number: number };
}

export interface CommentTables {
  readonly comments: Omit<AlertComment, "by" | "incident"> & {
    readonly commentId: RowId;
    readonly author: string;
    readonly incidentNumber: number | null;
    /** A JSON array; null: of all alerts of the incident. */
    readonly alertIds: string | null;
  };
}

type CommentRow = Omit<CommentTables["comments"], "commentId">;
const columns = ["alertId", "slug", "atMs", "author", "note", "text", "act", "incidentNumber", "alertIds"] as const;
const alertIdsSchema = z.array(z.string());

/** Comments over the table `comments`. */
export function createCommentStore(db: Db) {
  const oldestFirst = () => db.selectFrom("comments").select(columns).orderBy("commentId");
  return {
    append: async ({ by, incident, ...comment }: AlertComment): Promise<void> => {
      const ids = incident?.alertIds ?? null;
      const alertIds = ids === null ? null : JSON.stringify(ids);
      await db
        .insertInto("comments")
        .values({ ...comment, author: by, incidentNumber: incident?.number ?? null, alertIds })
        .execute();
    },
    /** Oldest first. */
    of: async ({ id, incident }: CommentedAlert): Promise<readonly AlertComment[]> => {
      const own = oldestFirst().where((row) =>
        incident === undefined
          ? row("alertId", "=", id)
          : row.or([row("alertId", "=", id), row("incidentNumber", "=", incident.number)]),
      );
      return (await own.execute()).map(commentOf).filter((comment) => isOf(comment, id));
    },
    /** Returns the comments on an incident and on its alerts, oldest first. */
    ofIncident: async (number: number): Promise<readonly AlertComment[]> => {
      const members = db.selectFrom("alerts").select("id").where("incidentNumber", "=", number);
      const rows = oldestFirst().where((row) =>
        row.or([row("incidentNumber", "=", number), row("alertId", "in", members)]),
      );
      return (await rows.execute()).map(commentOf);
    },
    /** How many an alert, or an incident itself, has. */
    count: async (of: { readonly alertId: string } | { readonly incident: number }): Promise<number> => {
      const counted = db.selectFrom("comments").select(({ fn }) => fn.countAll().as("rows"));
      const own =
        "alertId" in of ? counted.where("alertId", "=", of.alertId) : counted.where("incidentNumber", "=", of.incident);
      return Number((await own.executeTakeFirstOrThrow()).rows);
    },
  };
}

function isOf({ incident }: AlertComment, alertId: string): boolean {
  return incident === undefined || incident.alertIds === null || incident.alertIds.includes(alertId);
}

function commentOf({ author, incidentNumber: number, alertIds: ids, ...row }: CommentRow): AlertComment {
  const comment = { ...row, by: author };
  if (number === null) return comment;
  return { ...comment, incident: { number, alertIds: ids === null ? null : alertIdsSchema.parse(JSON.parse(ids)) } };
}
