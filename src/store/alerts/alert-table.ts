import { z } from "zod";
import { FlatlineError } from "../../base/errors.ts";
import { checkNames, type CheckName } from "../../contract/report.ts";
import { severities } from "../../contract/severity.ts";
import { judgementVerdicts } from "../../contract/judgement.ts";
import type { AlertEnd, AlertHistoryEntry, AlertState, AlertStore, KeptAlert } from "./alerts.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { Db } from "../schema.ts";

const severity = z.enum(severities);
const nullableNumber = z.number().nullable();

const storedAlert = z.object({
  id: z.string(),
  check: z.enum(checkNames),
  slug: z.string(),
  kind: z.enum(["verdict", "unknown"]),
  state: z.enum(["pending", "firing"]),
  severity,
  startsAtMs: z.number(),
  firingAtMs: nullableNumber,
  okSinceMs: nullableNumber,
  unknownRuns: z.number(),
  peak: z.object({ severity, currentCount: nullableNumber, atMs: z.number() }),
  acknowledgement: z
    .object({
      atMs: z.number(),
      by: z.string().nullable(),
      note: z.string().nullable(),
      comment: z.string().nullable(),
      severity,
      isBeforeFail: z.literal(true).exactOptional(),
    })
    .nullable(),
  onset: z
    .object({ atMs: z.number(), marker: z.object({ text: z.string(), atMs: z.number() }).nullable() })
    .exactOptional(),
  windowHours: z.number().exactOptional(),
  judgement: z
    .object({
      verdict: z.enum(judgementVerdicts),
      comment: z.string().nullable(),
      by: z.string(),
      note: z.string().nullable(),
      atMs: z.number(),
    })
    .exactOptional(),
  reason: z.string(),
}) satisfies z.ZodType<AlertState>;

const storedEnd = z.object({
  atMs: z.number(),
  isByRun: z.boolean(),
  baselineExclusion: z.enum(["none", "applied", "too_much"]).nullable(),
}) satisfies z.ZodType<AlertEnd>;

const storedHistory = z.object({
  alert_id: z.string(),
  check_name: z.enum(checkNames),
  slug: z.string(),
  kind: z.enum(["verdict", "unknown"]),
  at_ms: z.number(),
  event: z.string(),
  severity,
  reason: z.string(),
});

const selectBodies = rowStatement<{ readonly body: string }>(
  ["text", "text"],
  (values) => `select body from alerts where (check_name, slug) in (${values})`,
);

/** Live alerts and their history over the tables `alerts` and `alert_history`. */
export function createAlertStore(db: Db): AlertStore {
  const bodies = () => db.selectFrom("alerts").select("body");
  return {
    live: async (check, slug) =>
      readAll(await bodies().where("check_name", "=", check).where("slug", "=", slug).orderBy("kind").execute()),
    liveOf: async (checks) =>
      readAll(
        await selectBodies(
          db,
          checks.map(({ check, slug }) => [check, slug]),
        ),
      ),
    allLive: async () => readAll(await bodies().orderBy("check_name").orderBy("slug").orderBy("kind").execute()),
    byId: async (alertId) => readAll(await bodies().where("id", "=", alertId).execute())[0] ?? null,
    save: async (state) => {
      const { id, check, slug, kind } = state;
      const body = JSON.stringify(state);
      await db
        .insertInto("alerts")
        .values({ id, check_name: check, slug, kind, state: state.state, body })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ state: state.state, body }))
        .execute();
    },
    remove: async (alertId) => {
      await db.deleteFrom("comments").where("alert_id", "=", alertId).execute();
      await db.deleteFrom("alerts").where("id", "=", alertId).execute();
    },
    find: async (alertId) => {
      const [live] = readAll(await bodies().where("id", "=", alertId).execute());
      if (live !== undefined) return { alert: live, end: null };
      const row = await db.selectFrom("ended_alerts").selectAll().where("id", "=", alertId).executeTakeFirst();
      return row === undefined ? null : keptAlert(row);
    },
    idsFrom: async (prefix, limit) =>
      db
        .selectFrom("alerts")
        .select(["id", "slug"])
        .where("id", "like", `${prefix}%`)
        .unionAll(db.selectFrom("ended_alerts").select(["id", "slug"]).where("id", "like", `${prefix}%`))
        .limit(limit)
        .execute(),
    change: async (state) => {
      const body = JSON.stringify(state);
      // Not an upsert: on PostgreSQL that would bring back one that another process ends meanwhile.
      await db.updateTable("alerts").set({ state: state.state, body }).where("id", "=", state.id).execute();
      await db.updateTable("ended_alerts").set({ body }).where("id", "=", state.id).execute();
    },
    end: async (state, end) => {
      const { id, check, slug, kind } = state;
      const row = { id, check_name: check, slug, kind, ends_at_ms: end.atMs };
      await db.deleteFrom("alerts").where("id", "=", id).execute();
      await db
        .insertInto("ended_alerts")
        .values({ ...row, body: JSON.stringify(state), end_body: JSON.stringify(end) })
        .execute();
    },
    ended: async ({ check, slug, fromMs, limit }) => {
      const rows = await db
        .selectFrom("ended_alerts")
        .selectAll()
        .where("check_name", "=", check)
        .where("slug", "=", slug)
        .where("ends_at_ms", ">=", fromMs)
        .orderBy("ends_at_ms", "desc")
        .limit(limit)
        .execute();
      return rows.map(keptAlert);
    },
    allEnded: async ({ fromMs, limit }) => {
      const rows = await db
        .selectFrom("ended_alerts")
        .selectAll()
        .where("ends_at_ms", ">=", fromMs)
        .orderBy("ends_at_ms", "desc")
        .limit(limit)
        .execute();
      return rows.map(keptAlert);
    },
    appendHistory: async (entry) => {
      const { alertId, check, slug, kind, atMs, event, severity, reason } = entry;
      await db
        .insertInto("alert_history")
        .values({ alert_id: alertId, check_name: check, slug, kind, at_ms: atMs, event, severity, reason })
        .execute();
    },
    history: async ({ check, slug, fromMs, limit }) => {
      const rows = await db
        .selectFrom("alert_history")
        .selectAll()
        .where("check_name", "=", check)
        .where("slug", "=", slug)
        .where("at_ms", ">=", fromMs)
        .orderBy("at_ms", "desc")
        .orderBy("entry_id", "desc")
        .limit(limit)
        .execute();
      return rows.map(historyEntry).toReversed();
    },
    historyOf: async (alertId) => {
      const rows = await db
        .selectFrom("alert_history")
        .selectAll()
        .where("alert_id", "=", alertId)
        .orderBy("at_ms")
        .orderBy("entry_id")
        .execute();
      return rows.map(historyEntry);
    },
    pruneEnded: async ({ beforeMs, checkersBeforeMs, maxRows }) => {
      const checkers = db.selectFrom("judgements").select("alert_id").where("is_standing", "=", 1);
      const rows = await db
        .selectFrom("ended_alerts")
        .select("id")
        .where("ends_at_ms", "<=", beforeMs)
        .where("id", "not in", db.selectFrom("gate_failures").select("alert_id"))
        .where((row) =>
          row.or([
            row("ends_at_ms", "<=", checkersBeforeMs),
            row("id", "not in", checkers.where("verdict", "=", "checker")),
          ]),
        )
        .limit(maxRows)
        .execute();
      const ids = rows.map(({ id }) => id);
      if (ids.length === 0) return { hasMore: false };
      await db.deleteFrom("judgements").where("alert_id", "in", ids).execute();
      await db.deleteFrom("comments").where("alert_id", "in", ids).execute();
      await db.deleteFrom("ended_alerts").where("id", "in", ids).execute();
      return { hasMore: ids.length >= maxRows };
    },
    pruneHistory: async ({ beforeMs, maxRows }) => {
      const failures = db.selectFrom("gate_failures").select("alert_id");
      const old = db
        .selectFrom("alert_history")
        .select("entry_id")
        .where("at_ms", "<=", beforeMs)
        .where("alert_id", "not in", failures)
        .limit(maxRows);
      const { numDeletedRows } = await db.deleteFrom("alert_history").where("entry_id", "in", old).executeTakeFirst();
      return { hasMore: numDeletedRows >= BigInt(maxRows) };
    },
  };
}

function readAll(rows: readonly { readonly body: string }[]): AlertState[] {
  return rows.map(({ body }) => {
    const parsed = storedAlert.safeParse(JSON.parse(body));
    if (parsed.success) return parsed.data;
    throw new FlatlineError("store_unusable", "a stored alert cannot be read", { cause: parsed.error });
  });
}

/** Returns an alert with its end from its two texts. @throws FlatlineError store_unusable */
export function keptAlert(row: { readonly body: string; readonly end_body: string | null }): KeptAlert {
  const [alert] = readAll([row]);
  const end = row.end_body === null ? null : storedEnd.parse(JSON.parse(row.end_body));
  if (alert === undefined) throw new FlatlineError("internal", "a row has no alert");
  return { alert, end };
}

function historyEntry(row: unknown): AlertHistoryEntry {
  const { alert_id: alertId, check_name: check, at_ms: atMs, ...rest } = storedHistory.parse(row);
  return { alertId, check: check satisfies CheckName, atMs, ...rest };
}
