import { sql } from "kysely";

import { keptAlert } from "./alert-table.ts";
import type { GateFailure, GateReleaseEntry, GateStore } from "./gate.ts";
import { chunksOf } from "../engine/chunks.ts";
import { engineOf } from "../engine/engine.ts";
import type { Db } from "../schema.ts";

/** Failures and releases of the gate, over the tables `gate_failures` and `gate_releases`. */
export function createGateStore(db: Db): GateStore {
  return {
    takeTurn: async (slug) => {
      // SQLite's transactions exclude each other. Elsewhere the second of two that change a row is rolled back and begins again.
      if (engineOf(db) === "postgres")
        await db
          .updateTable("gate_failures")
          .set({ turn: sql<number>`turn + 1` })
          .where("slug", "=", slug)
          .execute();
    },
    fail: async ({ id, check, slug }, atMs) => {
      await db
        .insertInto("gate_failures")
        .values({ alert_id: id, check_name: check, slug, failed_at_ms: atMs, released_at_ms: null })
        .onConflict((conflict) => conflict.column("alert_id").doUpdateSet({ failed_at_ms: atMs, released_at_ms: null }))
        .execute();
    },
    failures: async (slug) => {
      const rows = failureRows(db);
      const wanted =
        slug === undefined ? rows.where("released_at_ms", "is", null) : rows.where("gate_failures.slug", "=", slug);
      return (await wanted.execute()).flatMap(failureOf);
    },
    endedBy: async (beforeMs) =>
      (await failureRows(db).where("ended_alerts.ends_at_ms", "<=", beforeMs).execute()).flatMap(failureOf),
    releaseAll: async (slug, atMs) => {
      const open = db.updateTable("gate_failures").set({ released_at_ms: atMs }).where("slug", "=", slug);
      await open.where("released_at_ms", "is", null).execute();
    },
    forget: async (alertIds) => {
      for (const ids of chunksOf(alertIds)) await db.deleteFrom("gate_failures").where("alert_id", "in", ids).execute();
    },
    addRelease: async ({ slug, atMs, how, alertId, by, comment }) => {
      const row = { slug, at_ms: atMs, how, alert_id: alertId, released_by: by, comment };
      await db.insertInto("gate_releases").values(row).execute();
    },
    releases: async (slug, limit) => {
      const rows = db.selectFrom("gate_releases").selectAll().where("slug", "=", slug);
      const latest = await rows.orderBy("at_ms", "desc").orderBy("release_id", "desc").limit(limit).execute();
      return latest.map((row) => ({
        slug: row.slug,
        atMs: row.at_ms,
        how: row.how as GateReleaseEntry["how"],
        alertId: row.alert_id,
        by: row.released_by,
        comment: row.comment,
      }));
    },
    prune: async (beforeMs) => {
      await db.deleteFrom("gate_releases").where("at_ms", "<", beforeMs).execute();
    },
  };
}

function failureRows(db: Db) {
  return db
    .selectFrom("gate_failures")
    .leftJoin("alerts", "alerts.id", "gate_failures.alert_id")
    .leftJoin("ended_alerts", "ended_alerts.id", "gate_failures.alert_id")
    .select(["failed_at_ms", "released_at_ms"])
    .select(["alerts.body as live_body", "ended_alerts.body as ended_body", "ended_alerts.end_body"])
    .orderBy("failed_at_ms");
}

/** None for a failure without its alert. */
function failureOf(row: {
  readonly failed_at_ms: number;
  readonly released_at_ms: number | null;
  readonly live_body: string | null;
  readonly ended_body: string | null;
  readonly end_body: string | null;
}): GateFailure[] {
  const body = row.live_body ?? row.ended_body;
  if (body === null) return [];
  const kept = keptAlert({ body, end_body: row.live_body === null ? row.end_body : null });
  return [{ ...kept, failedAtMs: row.failed_at_ms, releasedAtMs: row.released_at_ms }];
}
