import type { Selectable } from "kysely";
import { z } from "zod";

import type { CommentRow, Db } from "../schema.ts";

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

/** Whose comments are asked for: an alert's, with those of its incident that are of it. */
export interface CommentedAlert {
  readonly id: string;
  readonly incident?: { readonly number: number };
}

const alertIdsSchema = z.array(z.string());

/** Comments over the table `comments`. */
export function createCommentStore(db: Db) {
  const oldestFirst = () => db.selectFrom("comments").selectAll().orderBy("comment_id");
  return {
    append: async ({ alertId, slug, atMs, by, note, text, act, incident }: AlertComment): Promise<void> => {
      const alertIds = incident?.alertIds ?? null;
      const of = {
        incident_number: incident?.number ?? null,
        alert_ids: alertIds === null ? null : JSON.stringify(alertIds),
      };
      await db
        .insertInto("comments")
        .values({ alert_id: alertId, slug, at_ms: atMs, author: by, note, text, act, ...of })
        .execute();
    },
    /** Oldest first. */
    of: async ({ id, incident }: CommentedAlert): Promise<readonly AlertComment[]> => {
      const own = oldestFirst().where((row) =>
        incident === undefined
          ? row("alert_id", "=", id)
          : row.or([row("alert_id", "=", id), row("incident_number", "=", incident.number)]),
      );
      return (await own.execute()).map(commentOf).filter((comment) => isOf(comment, id));
    },
    /** Those of an incident and of its alerts, oldest first. */
    ofIncident: async (number: number): Promise<readonly AlertComment[]> => {
      const of = (table: "alerts" | "ended_alerts") =>
        db.selectFrom(table).select("id").where("incident_number", "=", number);
      const rows = oldestFirst().where((row) =>
        row.or([
          row("incident_number", "=", number),
          row("alert_id", "in", of("alerts")),
          row("alert_id", "in", of("ended_alerts")),
        ]),
      );
      return (await rows.execute()).map(commentOf);
    },
    /** How many an alert, or an incident itself, has. */
    count: async (of: { readonly alertId: string } | { readonly incident: number }): Promise<number> => {
      const counted = db.selectFrom("comments").select(({ fn }) => fn.countAll().as("rows"));
      const own =
        "alertId" in of
          ? counted.where("alert_id", "=", of.alertId)
          : counted.where("incident_number", "=", of.incident);
      return Number((await own.executeTakeFirstOrThrow()).rows);
    },
  };
}

function isOf({ incident }: AlertComment, alertId: string): boolean {
  return incident === undefined || incident.alertIds === null || incident.alertIds.includes(alertId);
}

function commentOf(row: Selectable<CommentRow>): AlertComment {
  const { incident_number: number, alert_ids: ids } = row;
  return {
    alertId: row.alert_id,
    slug: row.slug,
    atMs: row.at_ms,
    by: row.author,
    note: row.note,
    text: row.text,
    act: row.act as CommentedAct | null,
    ...(number === null
      ? {}
      : { incident: { number, alertIds: ids === null ? null : alertIdsSchema.parse(JSON.parse(ids)) } }),
  };
}
