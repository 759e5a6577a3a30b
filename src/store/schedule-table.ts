import { sql } from "kysely";
import { checkNames, type CheckName } from "../contract/report.ts";
import { severities, type Severity } from "../contract/severity.ts";
import { readReport, writeReport } from "./check-reports.ts";
import type { CheckState, ClaimedRun, ScheduleEntry, ScheduleStore } from "./schedule.ts";
import type { Db } from "./schema.ts";

/** The schedule over the table `checks`. */
export function createScheduleStore(db: Db): ScheduleStore {
  /** One transaction, the surrounding one if there is one: a commit waits for the disk, thousands of rows must not. */
  function atOnce<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
    return db.isTransaction ? work(db) : db.transaction().execute(work);
  }

  async function sync(
    db: Db,
    wanted: readonly ScheduleEntry[],
  ): Promise<{ removed: { check: CheckName; slug: string }[] }> {
    const stored = new Map((await entries(db)).map((entry) => [keyOf(entry), entry]));
    for (const entry of wanted) {
      const known = stored.get(keyOf(entry));
      stored.delete(keyOf(entry));
      if (known === undefined) await insert(db, entry);
      else if (known.scheduleKey !== entry.scheduleKey || known.nextDueAtMs > entry.nextDueAtMs) await rekey(db, entry);
    }
    const removed = [...stored.values()].map(({ check, slug }) => ({ check, slug }));
    for (const { check, slug } of removed)
      await db.deleteFrom("checks").where("check_name", "=", check).where("slug", "=", slug).execute();
    return { removed };
  }

  async function insert(db: Db, entry: ScheduleEntry): Promise<void> {
    await db
      .insertInto("checks")
      .values({
        check_name: entry.check,
        slug: entry.slug,
        schedule_key: entry.scheduleKey,
        next_due_at_ms: entry.nextDueAtMs,
      })
      // Another process may have started with the same configuration a moment ago.
      .onConflict((conflict) => conflict.columns(["check_name", "slug"]).doNothing())
      .execute();
  }

  async function rekey(db: Db, entry: ScheduleEntry): Promise<void> {
    await db
      .updateTable("checks")
      .set({ schedule_key: entry.scheduleKey, next_due_at_ms: entry.nextDueAtMs })
      .where("check_name", "=", entry.check)
      .where("slug", "=", entry.slug)
      .execute();
  }

  async function entries(db: Db): Promise<ScheduleEntry[]> {
    const rows = await db
      .selectFrom("checks")
      .select(["check_name", "slug", "schedule_key", "next_due_at_ms"])
      .execute();
    return rows.map((row) => ({
      check: checkOf(row.check_name),
      slug: row.slug,
      scheduleKey: row.schedule_key,
      nextDueAtMs: row.next_due_at_ms,
    }));
  }

  return {
    sync: (wanted) => atOnce((db) => sync(db, wanted)),
    entries: () => entries(db),
    claimDue: async ({ nowMs, owner, leaseUntilMs, limit }) => {
      const due = db
        .selectFrom("checks")
        .select("check_id")
        .where("next_due_at_ms", "<=", nowMs)
        .where("lease_until_ms", "<=", nowMs)
        .orderBy("next_due_at_ms")
        .limit(limit);
      const rows = await db
        .updateTable("checks")
        .set({ fence: sql<number>`fence + 1`, lease_owner: owner, lease_until_ms: leaseUntilMs })
        .where("check_id", "in", due)
        .returning(["check_name", "slug", "next_due_at_ms", "fence"])
        .execute();
      return rows.map(claimedRun).toSorted((left, right) => left.dueAtMs - right.dueAtMs);
    },
    claimNow: async ({ check, slug, nowMs, owner, leaseUntilMs }) => {
      const row = await db
        .updateTable("checks")
        .set({ fence: sql<number>`fence + 1`, lease_owner: owner, lease_until_ms: leaseUntilMs })
        .where("check_name", "=", check)
        .where("slug", "=", slug)
        .where("lease_until_ms", "<=", nowMs)
        .returning(["check_name", "slug", "next_due_at_ms", "fence"])
        .executeTakeFirst();
      return row === undefined ? null : claimedRun(row);
    },
    renewLeases: ({ runs, owner, leaseUntilMs }) =>
      atOnce(async (db) => {
        for (const { check, slug, fence } of runs)
          await db
            .updateTable("checks")
            .set({ lease_until_ms: leaseUntilMs })
            .where("check_name", "=", check)
            .where("slug", "=", slug)
            .where("lease_owner", "=", owner)
            .where("fence", "=", fence)
            .execute();
      }),
    nextDueAtMs: async (nowMs) => {
      const free = await db
        .selectFrom("checks")
        .select("next_due_at_ms as at_ms")
        .where("lease_until_ms", "<=", nowMs)
        .orderBy("next_due_at_ms")
        .limit(1)
        .executeTakeFirst();
      const held = await db
        .selectFrom("checks")
        .select(sql<number | null>`min(max(lease_until_ms, next_due_at_ms))`.as("at_ms"))
        .where("lease_owner", "is not", null)
        .where("lease_until_ms", ">", nowMs)
        .executeTakeFirst();
      const times = [free?.at_ms, held?.at_ms].filter((atMs) => typeof atMs === "number");
      return times.length === 0 ? null : Math.min(...times);
    },
    complete: async ({ run, owner, report, nextDueAtMs }) => {
      const text = writeReport(report);
      const { severity, finishedAtMs } = report;
      const result = report.kind === "result" ? { last_success_at_ms: finishedAtMs, last_result_report: text } : {};
      const { numUpdatedRows } = await db
        .updateTable("checks")
        .set({
          next_due_at_ms: nextDueAtMs,
          lease_owner: null,
          lease_until_ms: 0,
          last_run_at_ms: finishedAtMs,
          severity,
          severity_since_ms: sql<number>`case when severity = ${severity} then severity_since_ms else ${finishedAtMs} end`,
          last_report: text,
          ...result,
        })
        .where("check_name", "=", run.check)
        .where("slug", "=", run.slug)
        .where("lease_owner", "=", owner)
        .where("fence", "=", run.fence)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    releaseLeases: async (owner) => {
      await db
        .updateTable("checks")
        .set({ lease_owner: null, lease_until_ms: 0 })
        .where("lease_owner", "=", owner)
        .execute();
    },
    state: async (check, slug) => {
      const row = await selectStates(db).where("check_name", "=", check).where("slug", "=", slug).executeTakeFirst();
      return row === undefined ? null : checkState(row);
    },
    states: async () => (await selectStates(db).execute()).map(checkState),
  };
}

function selectStates(db: Db) {
  return db
    .selectFrom("checks")
    .select([
      "check_name",
      "slug",
      "next_due_at_ms",
      "lease_owner",
      "last_run_at_ms",
      "last_success_at_ms",
      "severity",
      "severity_since_ms",
      "last_report",
      "last_result_report",
    ]);
}

type StateRow = Awaited<ReturnType<ReturnType<typeof selectStates>["execute"]>>[number];

function checkState(row: StateRow): CheckState {
  const lastReport = readReport(row.last_report);
  const isSame = row.last_report === row.last_result_report;
  return {
    check: checkOf(row.check_name),
    slug: row.slug,
    nextDueAtMs: row.next_due_at_ms,
    isRunning: row.lease_owner !== null,
    lastRunAtMs: row.last_run_at_ms,
    lastSuccessAtMs: row.last_success_at_ms,
    severity: severityOf(row.severity),
    severitySinceMs: row.severity_since_ms,
    lastReport,
    lastResultReport: isSame ? lastReport : readReport(row.last_result_report),
  };
}

function claimedRun(row: { check_name: string; slug: string; next_due_at_ms: number; fence: number }): ClaimedRun {
  return { check: checkOf(row.check_name), slug: row.slug, dueAtMs: row.next_due_at_ms, fence: row.fence };
}

function keyOf(entry: { readonly check: CheckName; readonly slug: string }): string {
  return `${entry.check} ${entry.slug}`;
}

/** Only the program writes the column; a name of a newer one is refused before (store_newer). */
function checkOf(name: string): CheckName {
  return checkNames.find((check) => check === name) ?? "dead-asset-spike";
}

function severityOf(name: string | null): Severity | null {
  return severities.find((severity) => severity === name) ?? null;
}
