import { sql } from "kysely";

import type { CheckName } from "../../contract/report.ts";
import { type KeptAlert, keptAlert } from "./alerts.ts";
import { chunksOf } from "../engine/chunks.ts";
import { dialectOf } from "../engine/dialect.ts";
import type { Db } from "../schema.ts";

/** An alert that reached fail while it fired. */
export interface GateFailure extends KeptAlert {
  /** When it was recorded that it last became a failure. */
  readonly failedAtMs: number;
  /** When the gate was released by hand since; null: it was not. */
  readonly releasedAtMs: number | null;
}

/** One end of a hold: by hand for all that had failed, or of one alert's failure. */
export interface GateReleaseEntry {
  readonly slug: string;
  readonly atMs: number;
  readonly how: "released" | "judged" | "acknowledged" | "resolved";
  /** null: by hand. */
  readonly alertId: string | null;
  readonly by: string | null;
  readonly comment: string | null;
}

/** Failures and releases of the gate, over the tables `gate_failures` and `gate_releases`. */
export function createGateStore(db: Db) {
  return {
    /** Excludes others who change the gate of this organization until the transaction ends; before anything of it is read. */
    takeTurn: async (slug: string): Promise<void> => {
      // Of two that change a row the second is rolled back and begins again.
      if (dialectOf(db).hasConcurrentWriters)
        await db
          .updateTable("gate_failures")
          .set({ turn: sql<number>`turn + 1` })
          .where("slug", "=", slug)
          .execute();
    },
    /** Notes that an alert has become a failure, for the first time or again. */
    fail: async (
      { id, check, slug }: { readonly id: string; readonly check: CheckName; readonly slug: string },
      atMs: number,
    ): Promise<void> => {
      await db
        .insertInto("gate_failures")
        .values({ alert_id: id, check_name: check, slug, failed_at_ms: atMs, released_at_ms: null })
        .onConflict((conflict) => conflict.column("alert_id").doUpdateSet({ failed_at_ms: atMs, released_at_ms: null }))
        .execute();
    },
    /** Returns the failures of one organization, or all that were not released by hand. */
    failures: async (slug?: string): Promise<readonly GateFailure[]> => {
      const rows = failureRows(db);
      const wanted =
        slug === undefined ? rows.where("released_at_ms", "is", null) : rows.where("gate_failures.slug", "=", slug);
      return (await wanted.execute()).flatMap(failureOf);
    },
    /** Those whose alert ended at or before `beforeMs`, released or not. */
    endedBy: async (beforeMs: number): Promise<readonly GateFailure[]> =>
      (await failureRows(db).where("ended_alerts.ends_at_ms", "<=", beforeMs).execute()).flatMap(failureOf),
    /** Releases by hand all that have failed by now. */
    releaseAll: async (slug: string, atMs: number): Promise<void> => {
      const open = db.updateTable("gate_failures").set({ released_at_ms: atMs }).where("slug", "=", slug);
      await open.where("released_at_ms", "is", null).execute();
    },
    /** Releases by hand what one alert holds. */
    release: async (alertId: string, atMs: number): Promise<void> => {
      await db.updateTable("gate_failures").set({ released_at_ms: atMs }).where("alert_id", "=", alertId).execute();
    },
    /** Deletes these failures, so that their alerts can be pruned. */
    forget: async (alertIds: readonly string[]): Promise<void> => {
      for (const ids of chunksOf(alertIds)) await db.deleteFrom("gate_failures").where("alert_id", "in", ids).execute();
    },
    addRelease: async ({ slug, atMs, how, alertId, by, comment }: GateReleaseEntry): Promise<void> => {
      const row = { slug, at_ms: atMs, how, alert_id: alertId, released_by: by, comment };
      await db.insertInto("gate_releases").values(row).execute();
    },
    /** The latest ones, newest first. */
    releases: async (slug: string, limit: number): Promise<readonly GateReleaseEntry[]> => {
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
    /** Deletes releases before `beforeMs`. */
    prune: async (beforeMs: number): Promise<void> => {
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
