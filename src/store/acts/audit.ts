import { sql } from "kysely";

import type { Action, Actor, ActVia } from "../../contract/actor.ts";
import { dialectOf } from "../engine/dialect.ts";
import type { Db, PruneLimits, Pruned, RowId } from "../tables.ts";

/** An act as it is written down. */
export interface AuditAct {
  readonly atMs: number;
  readonly actor: Actor;
  readonly action: Action;
  /** The organization, or a pattern of several; null: all of them, or none. */
  readonly slug: string | null;
  /** The subject of the act: the id of an alert or a silence, or a check; null: the organization as a whole. */
  readonly subject: string | null;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** A row of the audit. */
export interface AuditEntry {
  readonly id: number;
  readonly atMs: number;
  readonly actor: string;
  readonly via: ActVia;
  readonly action: Action;
  readonly slug: string | null;
  readonly subject: string | null;
  /** Has `user` and `note`, too, if the author had them. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The last row of a page of the audit. */
export interface AuditPosition {
  readonly atMs: number;
  readonly id: number;
}

export interface AuditTables {
  readonly audit: Omit<AuditEntry, "id" | "detail"> & {
    readonly entryId: RowId;
    /** A JSON object. */
    readonly detail: string;
  };
}

const entryColumns = ["entryId as id", "atMs", "actor", "via", "action", "slug", "subject", "detail"] as const;

interface AuditQuery {
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly actor?: string | undefined;
  readonly after?: AuditPosition | undefined;
  readonly limit: number;
}

/** Creates the audit of acts of people and programs (CONTRACT 13). Rows never change; retention deletes them. */
export function createAuditStore(db: Db<AuditTables>) {
  return {
    /** Adds a row; in the transaction of the act where it has one. */
    append: async ({ atMs, actor, action, slug, subject, detail }: AuditAct): Promise<void> => {
      const { name, via } = actor;
      const row = { atMs, actor: name, via, action, slug, subject, detail: detailOf(actor, detail) };
      await db.insertInto("audit").values(row).execute();
    },
    /** Adds a row for each, whatever their number, in one statement. */
    appendEach: async (
      { atMs, actor, action }: Pick<AuditAct, "atMs" | "actor" | "action">,
      rows: readonly Pick<AuditAct, "slug" | "subject" | "detail">[],
    ): Promise<void> => {
      const cells = rows.map(({ slug, subject, detail }) => [slug, subject, detailOf(actor, detail)]);
      await sql`insert into audit (at_ms, actor, via, action, slug, subject, detail)
        select ${atMs}, ${actor.name}, ${actor.via}, ${action}, value ->> 0, value ->> 1, value ->> 2
        from ${dialectOf(db).cells(cells)}`.execute(db);
    },
    /** Newest first, those after `after` in that order. */
    list: async ({ sinceMs, untilMs, actor, after, limit }: AuditQuery): Promise<readonly AuditEntry[]> => {
      let query = db.selectFrom("audit").select(entryColumns);
      if (sinceMs !== undefined) query = query.where("atMs", ">=", sinceMs);
      if (untilMs !== undefined) query = query.where("atMs", "<=", untilMs);
      if (actor !== undefined) query = query.where("actor", "=", actor);
      if (after !== undefined)
        query = query.where((where) =>
          where(where.refTuple("atMs", "entryId"), "<", where.tuple(after.atMs, after.id)),
        );
      const rows = await query.orderBy("atMs", "desc").orderBy("entryId", "desc").limit(limit).execute();
      return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as AuditEntry["detail"] }));
    },
    /** Deletes those before `beforeMs`, at most `maxRows` at a time. */
    prune: async ({ beforeMs, maxRows }: PruneLimits): Promise<Pruned> => {
      const old = db.selectFrom("audit").select("entryId").where("atMs", "<", beforeMs).limit(maxRows);
      const { numDeletedRows } = await db.deleteFrom("audit").where("entryId", "in", old).executeTakeFirst();
      return { hasMore: numDeletedRows >= BigInt(maxRows) };
    },
  };
}

function detailOf({ user, note }: Actor, detail: AuditAct["detail"]): string {
  return JSON.stringify({ ...detail, ...(user === null ? {} : { user }), ...(note === null ? {} : { note }) });
}
