import { z } from "zod";
import { FlatlineError } from "../../base/errors.ts";
import { checkNames, type CheckName } from "../../contract/report.ts";
import { severities } from "../../contract/severity.ts";
import type { AlertHistoryEntry, AlertState, AlertStore } from "./alerts.ts";
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
    .object({ atMs: z.number(), by: z.string().nullable(), comment: z.string().nullable(), severity })
    .nullable(),
  onset: z
    .object({ atMs: z.number(), marker: z.object({ text: z.string(), atMs: z.number() }).nullable() })
    .exactOptional(),
  reason: z.string(),
}) satisfies z.ZodType<AlertState>;

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
      await db.deleteFrom("alerts").where("id", "=", alertId).execute();
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
    pruneHistory: async ({ beforeMs, maxRows }) => {
      const old = db.selectFrom("alert_history").select("entry_id").where("at_ms", "<=", beforeMs).limit(maxRows);
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

function historyEntry(row: unknown): AlertHistoryEntry {
  const { alert_id: alertId, check_name: check, at_ms: atMs, ...rest } = storedHistory.parse(row);
  return { alertId, check: check satisfies CheckName, atMs, ...rest };
}
