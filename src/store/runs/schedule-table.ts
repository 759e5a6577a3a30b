import { sql } from "kysely";
import type { CheckName } from "../../contract/report.ts";
import { readReport } from "./check-reports.ts";
import { chunksOf } from "../engine/chunks.ts";
import { engineOf, leaseInstant, leaseNow, type LeaseClock } from "../engine/engine.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import { completeRuns, lastResultOf } from "./run-completion.ts";
import type { CheckKey, CheckState, ClaimedRun, ScheduleEntry, ScheduleStore } from "./schedule.ts";
import type { Db } from "../schema.ts";

/** The schedule over the table `checks`. */
export function createScheduleStore(db: Db, leaseClock: LeaseClock): ScheduleStore {
  async function sync(
    db: Db,
    wanted: readonly ScheduleEntry[],
  ): Promise<{ removed: { check: CheckName; slug: string }[] }> {
    const stored = new Map((await entries(db)).map((entry) => [keyOf(entry), entry]));
    const changed: ScheduleEntry[] = [];
    for (const entry of wanted) {
      const known = stored.get(keyOf(entry));
      stored.delete(keyOf(entry));
      if (known?.scheduleKey !== entry.scheduleKey) changed.push(entry);
      else if (isSetBack(known, entry)) await setBack(db, entry, known.nextDueAtMs);
    }
    // Many rows a statement: the builder takes longer than the database, and ten thousand organizations are one reload.
    for (let start = 0; start < changed.length; start += rowsPerStatement) {
      const values = changed.slice(start, start + rowsPerStatement).map((entry) => ({
        check_name: entry.check,
        slug: entry.slug,
        schedule_key: entry.scheduleKey,
        next_due_at_ms: entry.nextDueAtMs,
      }));
      await db
        .insertInto("checks")
        .values(values)
        .onConflict((conflict) =>
          conflict
            .columns(["check_name", "slug"])
            .doUpdateSet((row) => ({
              schedule_key: row.ref("excluded.schedule_key"),
              next_due_at_ms: row.ref("excluded.next_due_at_ms"),
            }))
            // Another process with the same configuration was first, and may have run it since.
            .whereRef("checks.schedule_key", "<>", "excluded.schedule_key" as "checks.schedule_key"),
        )
        .execute();
    }
    const removed = [...stored.values()].map(({ check, slug }) => ({ check, slug }));
    for (const { check, slug } of removed)
      await db.deleteFrom("checks").where("check_name", "=", check).where("slug", "=", slug).execute();
    return { removed };
  }

  async function setBack(db: Db, { check, slug, nextDueAtMs }: ScheduleEntry, knownDueAtMs: number): Promise<void> {
    await db
      .updateTable("checks")
      .set({ next_due_at_ms: nextDueAtMs })
      .where("check_name", "=", check)
      .where("slug", "=", slug)
      .where("next_due_at_ms", "=", knownDueAtMs)
      .execute();
  }

  async function entries(db: Db): Promise<ScheduleEntry[]> {
    const rows = await db
      .selectFrom("checks")
      .select(["check_name", "slug", "schedule_key", "next_due_at_ms"])
      .execute();
    return rows.map((row) => ({
      check: row.check_name,
      slug: row.slug,
      scheduleKey: row.schedule_key,
      nextDueAtMs: row.next_due_at_ms,
    }));
  }

  return {
    // Each row is changed by what it is then: of thousands that others run all the time some would always have changed.
    sync: (wanted) => inTransaction(db, (db) => sync(db, wanted), "latest"),
    entries: () => entries(db),
    claimDue: async ({ nowMs, owner, leaseUntilMs, limit, except = [] }) => {
      const now = leaseNow(leaseClock, nowMs);
      const due = db
        .selectFrom("checks")
        .select("check_id")
        .where("next_due_at_ms", "<=", now)
        .where("lease_until_ms", "<=", now)
        .where(isNoneOf(except))
        .orderBy("next_due_at_ms")
        .limit(limit);
      const rows = await db
        // What another replica is just claiming is not waited for.
        .with("due", () => (engineOf(db) === "postgres" ? due.forUpdate().skipLocked() : due))
        .updateTable("checks")
        .set({
          fence: sql<number>`fence + 1`,
          lease_owner: owner,
          lease_until_ms: leaseInstant(leaseClock, leaseUntilMs, nowMs),
        })
        .where("check_id", "in", (where) => where.selectFrom("due").select("due.check_id"))
        .returning(["check_name", "slug", "next_due_at_ms", "fence"])
        .execute();
      return rows.map(claimedRun).toSorted((left, right) => left.dueAtMs - right.dueAtMs);
    },
    due: async ({ nowMs, limit }) => {
      const now = leaseNow(leaseClock, nowMs);
      const rows = await db
        .selectFrom("checks")
        .select(["check_name", "slug", "next_due_at_ms", "fence"])
        .where("next_due_at_ms", "<=", now)
        .where("lease_until_ms", "<=", now)
        .orderBy("next_due_at_ms")
        .limit(limit)
        .execute();
      return rows.map(claimedRun);
    },
    claimNow: async ({ check, slug, nowMs, owner, leaseUntilMs }) => {
      const row = await db
        .updateTable("checks")
        .set({
          fence: sql<number>`fence + 1`,
          lease_owner: owner,
          lease_until_ms: leaseInstant(leaseClock, leaseUntilMs, nowMs),
        })
        .where("check_name", "=", check)
        .where("slug", "=", slug)
        .where("lease_until_ms", "<=", leaseNow(leaseClock, nowMs))
        .returning(["check_name", "slug", "next_due_at_ms", "fence"])
        .executeTakeFirst();
      return row === undefined ? null : claimedRun(row);
    },
    renewLeases: async ({ runs, owner, nowMs, leaseUntilMs }) => {
      for (const slice of chunksOf(runs)) {
        const keys = slice.map(({ check, slug, fence }) => sql`(${check}, ${slug}, cast(${fence} as bigint))`);
        // One statement, not a transaction of many: those would conflict with each run that ends meanwhile. A row that is
        // locked is just ending, and is not waited for.
        const skipLocked = engineOf(db) === "postgres" ? sql`for update skip locked` : sql``;
        await sql`
          with held as (
            select check_id from checks
            where lease_owner = ${owner} and (check_name, slug, fence) in (values ${sql.join(keys)}) ${skipLocked})
          update checks set lease_until_ms = ${leaseInstant(leaseClock, leaseUntilMs, nowMs)}
          where check_id in (select check_id from held)`.execute(db);
      }
    },
    nextDueAtMs: async (nowMs, except = []) => {
      const now = leaseNow(leaseClock, nowMs);
      const free = await db
        .selectFrom("checks")
        .select(["next_due_at_ms as at_ms", now.as("now_ms")])
        .where("lease_until_ms", "<=", now)
        .where(isNoneOf(except))
        .orderBy("next_due_at_ms")
        .limit(1)
        .executeTakeFirst();
      const held = await db
        .selectFrom("checks")
        .select([
          sql<
            number | null
          >`min(case when lease_until_ms > next_due_at_ms then lease_until_ms else next_due_at_ms end)`.as("at_ms"),
          now.as("now_ms"),
        ])
        .where("lease_owner", "is not", null)
        .where("lease_until_ms", ">", now)
        .where(isNoneOf(except))
        .executeTakeFirst();
      // As far from the caller's now as it is from the lease clock's.
      const times = [free, held].flatMap((row) =>
        typeof row?.at_ms === "number" ? [nowMs + (row.at_ms - row.now_ms)] : [],
      );
      return times.length === 0 ? null : Math.min(...times);
    },
    complete: async (done) => (await completeRuns(db, [done]))[0] !== null,
    completeAll: (done) => inTransaction(db, (db) => completeRuns(db, done)),
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
    states: async () => (await selectStates(db).orderBy("checks.check_id").execute()).map(checkState),
    lastRuns: async (sinceMs) => {
      const rows = await db
        .selectFrom("checks")
        .select(["check_name as check", "slug", "last_run_at_ms"])
        .where("last_run_at_ms", ">=", sinceMs)
        .execute();
      return rows.map(({ check, slug, last_run_at_ms }) => ({ check, slug, lastRunAtMs: last_run_at_ms ?? 0 }));
    },
    statesOf: async (checks) => {
      const states: CheckState[] = [];
      for (const slice of chunksOf(checks)) {
        const rows = await selectStates(db)
          .where(sql<boolean>`(check_name, slug) in (values ${keysOf(slice)})`)
          .execute();
        for (const row of rows) states.push(checkState(row));
      }
      return states;
    },
  };
}

/** Another process may have run the check since `wanted` was computed: the same due time must not come twice. */
function isSetBack(known: ScheduleEntry, { nextDueAtMs, seenDueAtMs = known.nextDueAtMs }: ScheduleEntry): boolean {
  return known.nextDueAtMs > nextDueAtMs && known.nextDueAtMs === seenDueAtMs;
}

const rowsPerStatement = 500;
// An engine bounds the number of parameters; whoever has more than these is far from what the others have.
const mostExcepted = 5_000;

function isNoneOf(checks: readonly CheckKey[]) {
  if (checks.length === 0) return sql<boolean>`1 = 1`;
  return sql<boolean>`(check_name, slug) not in (values ${keysOf(checks.slice(0, mostExcepted))})`;
}

function keysOf(checks: readonly CheckKey[]) {
  return sql.join(checks.map(({ check, slug }) => sql`(${check}, ${slug})`));
}

function selectStates(db: Db) {
  return db
    .selectFrom("checks")
    .leftJoin("check_reports", (join) =>
      join
        .onRef("check_reports.check_id", "=", "checks.check_id")
        .onRef("check_reports.shape_id", "=", "checks.report_shape"),
    )
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
      "report_values",
      "check_reports.shape",
    ]);
}

type StateRow = Awaited<ReturnType<ReturnType<typeof selectStates>["execute"]>>[number];

function checkState(row: StateRow): CheckState {
  const whole = readReport(row.last_report);
  const lastResultReport = whole?.kind === "result" ? whole : lastResultOf(row, row.shape);
  return {
    check: row.check_name,
    slug: row.slug,
    nextDueAtMs: row.next_due_at_ms,
    isRunning: row.lease_owner !== null,
    lastRunAtMs: row.last_run_at_ms,
    lastSuccessAtMs: row.last_success_at_ms,
    severity: row.severity,
    severitySinceMs: row.severity_since_ms,
    lastReport: row.last_report === null ? lastResultReport : whole,
    lastResultReport,
  };
}

function claimedRun(row: { check_name: CheckName; slug: string; next_due_at_ms: number; fence: number }): ClaimedRun {
  return { check: row.check_name, slug: row.slug, dueAtMs: row.next_due_at_ms, fence: row.fence };
}

function keyOf(entry: { readonly check: CheckName; readonly slug: string }): string {
  return `${entry.check} ${entry.slug}`;
}
