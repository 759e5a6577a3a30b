import { z } from "zod";
import { actions, actVias } from "../../contract/actor.ts";
import type { AuditEntry, AuditStore } from "./audit.ts";
import type { Db } from "../schema.ts";

const storedEntry = z.object({
  entry_id: z.number(),
  at_ms: z.number(),
  actor: z.string(),
  via: z.enum(actVias),
  action: z.enum(actions),
  slug: z.string().nullable(),
  subject: z.string().nullable(),
  detail: z.string(),
});

/** Creates the audit over the table `audit`. */
export function createAuditStore(db: Db): AuditStore {
  return {
    append: async ({ atMs, actor, action, slug, subject, detail }) => {
      const { name, via, user, note } = actor;
      const said = { ...detail, ...(user === null ? {} : { user }), ...(note === null ? {} : { note }) };
      const row = { at_ms: atMs, actor: name, via, action, slug, subject, detail: JSON.stringify(said) };
      await db.insertInto("audit").values(row).execute();
    },
    list: async ({ sinceMs, untilMs, actor, after, limit }) => {
      let query = db.selectFrom("audit").selectAll();
      if (sinceMs !== undefined) query = query.where("at_ms", ">=", sinceMs);
      if (untilMs !== undefined) query = query.where("at_ms", "<=", untilMs);
      if (actor !== undefined) query = query.where("actor", "=", actor);
      if (after !== undefined)
        query = query.where((where) =>
          where(where.refTuple("at_ms", "entry_id"), "<", where.tuple(after.atMs, after.id)),
        );
      const rows = await query.orderBy("at_ms", "desc").orderBy("entry_id", "desc").limit(limit).execute();
      return rows.map(auditEntry);
    },
    prune: async ({ beforeMs, maxRows }) => {
      const old = db.selectFrom("audit").select("entry_id").where("at_ms", "<", beforeMs).limit(maxRows);
      const { numDeletedRows } = await db.deleteFrom("audit").where("entry_id", "in", old).executeTakeFirst();
      return { hasMore: numDeletedRows >= BigInt(maxRows) };
    },
  };
}

function auditEntry(row: unknown): AuditEntry {
  const { entry_id: id, at_ms: atMs, detail, ...rest } = storedEntry.parse(row);
  return { id, atMs, ...rest, detail: z.record(z.string(), z.unknown()).parse(JSON.parse(detail)) };
}
