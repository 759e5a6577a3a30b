import { sql } from "kysely";
import { dayMs, hourMs } from "../../base/time.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { CheckName } from "../../contract/report.ts";
import { severities } from "../../contract/severity.ts";
import { chunksOf } from "../engine/chunks.ts";
import { dialectOf } from "../engine/dialect.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { PlainDb } from "../schema.ts";
import { packReport, unpackReport } from "./check-reports.ts";
import { unpackHour } from "./hour-runs.ts";
import { mergeHours, readHour, readHours } from "./hour-table.ts";
import type { BoardRecord, CheckKey, JournalRecord, OwnerRecord, RunStore, StoredCheck, StoredReport } from "./runs.ts";

// Older days are not thinned out again, even after a longer downtime.
const thinnedDays = 2;

/** The lease of an owner that has ended. */
export const endedLease = 0;

/** Creates the store of journal, board and history over their tables. */
export function createRunStore(db: PlainDb): RunStore {
  return {
    addChecks: (keys) => inTransaction(db, (db) => addChecks(db, keys)),
    load: () =>
      // One snapshot: a run that is folded meanwhile is on the board or in the journal.
      inTransaction(db, async (db) => ({
        checks: await readChecks(db),
        board: await readBoard(db),
        owners: await readOwners(db),
        journal: await readJournal(db, new Map()),
      })),
    journalAfter: async (known) => ({ owners: await readOwners(db), journal: await readJournal(db, known) }),
    append: async ({ ownerId, epoch }, { seq, atMs, runs }) => {
      // Locks the owner's row until the end of the transaction. Without the lock, a suspended process can still write after
      // another one has raised the epoch (169 rows in 150 takeovers under load, measured 2026-11).
      const lock = dialectOf(db).lock("for share");
      const { numAffectedRows = 0n } = await sql`
        with held as (select 1 from owners where owner_id = ${ownerId} and epoch = ${epoch} ${lock})
        insert into journal (owner_id, seq, fence, at_ms, runs)
        select cast(${ownerId} as bigint), cast(${seq} as bigint), cast(${epoch} as bigint), cast(${atMs} as bigint), ${runs}
        from held where 1 = 1 on conflict (owner_id, seq) do nothing`.execute(db);
      if (numAffectedRows > 0n) return "appended";
      const { rows } = await sql`
        select 1 from journal where owner_id = ${ownerId} and seq = ${seq} and fence = ${epoch}`.execute(db);
      return rows.length > 0 ? "present" : "fenced";
    },
    keepReports: async (reports) => {
      await insertReports(
        db,
        reports.map(({ checkId, ...report }) => [
          checkId,
          report.finishedAtMs,
          severities.indexOf(report.severity),
          packReport(report),
        ]),
      );
    },
    mergeHours: (hours) => inTransaction(db, (db) => mergeHours(db, hours)),
    saveBoard: async (records, { areOwnersInTurn } = { areOwnersInTurn: false }) => {
      const save = areOwnersInTurn ? saveBoardRows : saveLaterBoardRows;
      await save(db, records.map(boardCells));
    },
    endFold: (ownerId, throughSeq) =>
      inTransaction(db, async (db) => {
        await sql`delete from journal where owner_id = ${ownerId} and seq <= ${throughSeq}`.execute(db);
        await sql`update owners set folded_seq = ${throughSeq}
          where owner_id = ${ownerId} and folded_seq < ${throughSeq}`.execute(db);
        await sql`delete from owners where owner_id = ${ownerId} and lease_until_ms = ${endedLease}
          and not exists (select 1 from journal where journal.owner_id = owners.owner_id)`.execute(db);
      }),
    forget: async (checkIds) => {
      for (const slice of chunksOf(checkIds)) await db.deleteFrom("board").where("check_id", "in", slice).execute();
    },
    foldedRuns: async (check, hours) => {
      const checkId = await findCheck(db, check);
      if (checkId === null) return [];
      const { rows } = await readHours(db, checkId, hours);
      return rows.flatMap(({ runs }) => unpackHour(runs));
    },
    foldedHour: (hour, checkIds) => readHour(db, hour, checkIds),
    firstFoldedHour: async (check) => {
      const checkId = await findCheck(db, check);
      if (checkId === null) return null;
      const { rows } = await readHours(db, checkId, { from: 0, to: Number.MAX_SAFE_INTEGER }, 1);
      return rows[0]?.hour ?? null;
    },
    reports: async ({ check, slug, fromMs, toMs, limit }) => {
      const checkId = await findCheck(db, { check, slug });
      if (checkId === null) return [];
      const rows = await db
        .selectFrom("check_reports")
        .select("report")
        .where("check_id", "=", checkId)
        .where("at_ms", ">", fromMs)
        .where("at_ms", "<=", toMs)
        .orderBy("at_ms", "desc")
        .limit(limit)
        .execute();
      return rows.flatMap(({ report }) => unpackReport(report) ?? []).toReversed();
    },
    prune: (limits) => inTransaction(db, (db) => prune(db, limits)),
    request: async (key, nowMs) => {
      const checkId = (await addChecks(db, [key])).get(checkKey(key));
      const { rows } = await sql<{ request_id: number }>`
        insert into run_requests (check_id, asked_at_ms) values (${checkId}, ${nowMs}) returning request_id`.execute(
        db,
      );
      return rows[0]?.request_id ?? 0;
    },
    requests: async () => {
      const { rows } = await sql<{ request_id: number; check_name: CheckName; slug: string }>`
        select request_id, check_name, slug from run_requests join checks on checks.check_id = run_requests.check_id
        order by request_id`.execute(db);
      return rows.map(({ request_id, check_name, slug }) => ({ requestId: request_id, check: check_name, slug }));
    },
    endRequests: async (requestIds) => {
      for (const slice of chunksOf(requestIds))
        await db.deleteFrom("run_requests").where("request_id", "in", slice).execute();
    },
    pruneRequests: async (beforeMs) => {
      await db.deleteFrom("run_requests").where("asked_at_ms", "<", beforeMs).execute();
    },
  };
}

const insertChecks = rowStatement(
  ["text", "text"],
  (values) => `insert into checks (check_name, slug) ${values} on conflict (check_name, slug) do nothing`,
);
const selectChecks = rowStatement<{ readonly check_id: number; readonly check_name: CheckName; readonly slug: string }>(
  ["text", "text"],
  (values) => `select check_id, check_name, slug from checks where (check_name, slug) in (${values})`,
);
const insertReports = rowStatement(
  ["bigint", "bigint", "bigint", "bytea"],
  (values) => `
    insert into check_reports (check_id, at_ms, severity, report) ${values}
    on conflict (check_id, at_ms) do update set severity = excluded.severity, report = excluded.report`,
);
const boardColumns = [
  ["check_id", "bigint"],
  ["owner_id", "bigint"],
  ["due_at_ms", "bigint"],
  ["is_asked", "bigint"],
  ["severity_since_ms", "bigint"],
  ["started_at_ms", "bigint"],
  ["finished_at_ms", "bigint"],
  ["shape", "text"],
  ["report_values", "bytea"],
  ["result_started_at_ms", "bigint"],
  ["result_finished_at_ms", "bigint"],
  ["result_shape", "text"],
  ["result_values", "bytea"],
  ["kept_at_ms", "bigint"],
  ["kept_digest", "text"],
] as const;
const boardNames = boardColumns.map(([name]) => name);
const saveBoardRows = boardStatement("");
const saveLaterBoardRows = boardStatement(
  "where board.owner_id = excluded.owner_id or board.finished_at_ms <= excluded.finished_at_ms",
);

function boardStatement(condition: string): ReturnType<typeof rowStatement> {
  return rowStatement(
    boardColumns.map(([, type]) => type),
    (values) => `
    insert into board (${boardNames.join(", ")}) ${values}
    on conflict (check_id) do update set ${boardNames.map((name) => `${name} = excluded.${name}`).join(", ")}
    ${condition}`,
  );
}

async function addChecks(db: PlainDb, keys: readonly CheckKey[]): Promise<Map<string, number>> {
  const cells = keys.map(({ check, slug }) => [check, slug]);
  const find = async () =>
    new Map(
      (await selectChecks(db, cells)).map((row) => [checkKey({ check: row.check_name, slug: row.slug }), row.check_id]),
    );
  const known = await find();
  const missing = keys.filter(({ check, slug }) => !known.has(checkKey({ check, slug })));
  if (missing.length === 0) return known;
  await insertChecks(
    db,
    missing.map(({ check, slug }) => [check, slug]),
  );
  return find();
}

async function findCheck(db: PlainDb, { check, slug }: CheckKey): Promise<number | null> {
  const [row] = await selectChecks(db, [[check, slug]]);
  return row?.check_id ?? null;
}

async function readChecks(db: PlainDb): Promise<StoredCheck[]> {
  const rows = await db.selectFrom("checks").select(["check_id", "check_name", "slug"]).execute();
  return rows.map((row) => ({ checkId: row.check_id, check: row.check_name, slug: row.slug }));
}

async function readOwners(db: PlainDb): Promise<OwnerRecord[]> {
  const rows = await db.selectFrom("owners").select(["owner_id", "lease_until_ms", "folded_seq"]).execute();
  return rows.map((row) => ({
    ownerId: row.owner_id,
    foldedSeq: row.folded_seq,
    isEnded: row.lease_until_ms === endedLease,
  }));
}

async function readJournal(db: PlainDb, known: ReadonlyMap<number, number>): Promise<JournalRecord[]> {
  const others = sql.join([...known.keys(), 0].map((ownerId) => sql`${ownerId}`));
  const after = [...known].map(([ownerId, seq]) => sql`owner_id = ${ownerId} and seq > ${seq}`);
  const wanted = sql.join([...after, sql`owner_id not in (${others})`], sql` or `);
  const { rows } = await sql<{ owner_id: number; seq: number; at_ms: number; runs: Uint8Array }>`
    select owner_id, seq, at_ms, runs from journal where ${wanted} order by owner_id, seq`.execute(db);
  return rows.map((row) => ({ ownerId: row.owner_id, seq: row.seq, atMs: row.at_ms, runs: row.runs }));
}

async function readBoard(db: PlainDb): Promise<BoardRecord[]> {
  const rows = await db.selectFrom("board").selectAll().execute();
  return rows.map((row) => ({
    checkId: row.check_id,
    ownerId: row.owner_id,
    dueAtMs: row.due_at_ms,
    isAsked: row.is_asked === 1,
    severitySinceMs: row.severity_since_ms,
    last: {
      startedAtMs: row.started_at_ms,
      finishedAtMs: row.finished_at_ms,
      shape: row.shape,
      values: valuesOf(row.report_values),
    },
    lastResult:
      row.result_shape === null || row.result_values === null
        ? null
        : {
            startedAtMs: row.result_started_at_ms ?? 0,
            finishedAtMs: row.result_finished_at_ms ?? 0,
            shape: row.result_shape,
            values: valuesOf(row.result_values),
          },
    kept: row.kept_digest === null ? null : { atMs: row.kept_at_ms ?? 0, digest: row.kept_digest },
  }));
}

function boardCells({ checkId, ownerId, dueAtMs, isAsked, severitySinceMs, last, lastResult, kept }: BoardRecord) {
  return [
    checkId,
    ownerId,
    dueAtMs,
    isAsked ? 1 : 0,
    severitySinceMs,
    ...reportCells(last),
    ...(lastResult === null ? [null, null, null, null] : reportCells(lastResult)),
    kept?.atMs ?? null,
    kept?.digest ?? null,
  ];
}

function reportCells({ startedAtMs, finishedAtMs, shape, values }: StoredReport) {
  return [startedAtMs, finishedAtMs, shape, new Uint8Array(new Float64Array(values).buffer)];
}

/** Copies the bytes: doubles must be aligned, and a Buffer's slice is not a copy. */
function valuesOf(bytes: Uint8Array): number[] {
  return Array.from(new Float64Array(Uint8Array.from(bytes).buffer));
}

/** Deletes whole hours, so that no row is rewritten. */
async function prune(
  db: PlainDb,
  { beforeMs, thinBeforeMs, maxRows }: { beforeMs: number; thinBeforeMs: number; maxRows: number },
): Promise<{ hasMore: boolean }> {
  const hours = await sql`
    delete from check_hours where (hour, check_id) in (
      select hour, check_id from check_hours where hour < ${Math.floor(beforeMs / hourMs)}
      order by hour, check_id limit ${maxRows})`.execute(db);
  const reports = await sql`
    delete from check_reports where (check_id, at_ms) in (
      select check_id, at_ms from check_reports where at_ms <= ${beforeMs} limit ${maxRows})`.execute(db);
  // The first report of each severity stays for each day.
  const day = sql.lit(dayMs);
  const thinned = await sql`
    delete from check_reports where (check_id, at_ms) in (
      select later.check_id, later.at_ms from check_reports as later 
      where later.at_ms < ${thinBeforeMs} and later.at_ms >= ${thinBeforeMs - thinnedDays * dayMs} and exists (
        select 1 from check_reports as first where first.check_id = later.check_id and first.severity = later.severity
          and first.at_ms < later.at_ms and first.at_ms >= later.at_ms - later.at_ms % ${day})
      limit ${maxRows})`.execute(db);
  const counts = [hours, reports, thinned].map(({ numAffectedRows = 0n }) => Number(numAffectedRows));
  return { hasMore: counts.some((count) => count >= maxRows) };
}
