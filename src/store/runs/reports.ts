import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sql } from "kysely";
import { z } from "zod";
import { cutText } from "../../base/cut-text.ts";
import { dayMs } from "../../base/time.ts";
import { checkKey } from "../../contract/check-key.ts";
import { healthcheckResultSchema } from "../../contract/healthcheck-schemas.ts";
import { checkErrorReasons, type CheckReport } from "../../contract/report.ts";
import { boundResult, type ResultBounds } from "../../contract/result-bounds.ts";
import { severities } from "../../contract/severity.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { Pruned } from "../prune-limits.ts";
import type { PlainDb } from "../schema.ts";
import type { CheckKey } from "./check-state.ts";
import { findChecks } from "./check-numbers.ts";

const nullableNumber = z.number().nullable();
const base = {
  check: z.string(),
  slug: z.string(),
  startedAtMs: z.number(),
  finishedAtMs: z.number(),
};

const storedReport = z.discriminatedUnion("kind", [
  z.object({
    ...base,
    kind: z.literal("result"),
    severity: z.enum(["ok", "warn", "fail"]),
    result: healthcheckResultSchema.extend({
      findingsOmitted: z.int().min(1).exactOptional(),
      isTruncated: z.literal(true).exactOptional(),
    }),
    counts: z.object({
      currentCount: nullableNumber,
      baselineCount: nullableNumber,
      expectedCount: nullableNumber,
      ratio: nullableNumber,
    }),
    baselineCoverage: nullableNumber,
    assetTypeExcess: z.array(z.object({ assetType: z.string(), excess: z.number() })).exactOptional(),
  }),
  z.object({
    ...base,
    kind: z.literal("error"),
    severity: z.literal("unknown"),
    error: z.object({ reason: z.enum(checkErrorReasons), message: z.string() }),
  }),
]) satisfies z.ZodType<CheckReport>;

// 1,000 organizations keep 90,000 reports and more, within a fraction of 1 GB.
const historyBounds: ResultBounds = { keys: 64, findings: 20, characters: 300 };

// The text that the reports of a calm check share, so that one takes 85 bytes in place of 366. Packed reports refer to it: it
// never changes.
const dictionary = Buffer.from(
  '{"kind":"error","check":"","slug":"","severity":"unknown","error":{"reason":"timeout","message":""}}' +
    '{"kind":"result","check":"dead-asset-spike","slug":"","startedAtMs":17,"finishedAtMs":17,"severity":"ok",' +
    '"counts":{"currentCount":0,"baselineCount":0,"expectedCount":0,"ratio":null},"baselineCoverage":1,' +
    '"result":{"id":"dead-asset-spike","title":"Spike in recently dead assets","category":"assets",' +
    '"generatedAt":"2026-","scope":{"slug":""},"ok":true,"severity":"ok",' +
    '"observed":{"currentCount":0,"baselineCount":0,"expectedCount":0,"ratio":0},' +
    '"threshold":{"windowHours":24,"baselineDays":7,"warnMultiplier":2,"failMultiplier":4,"minSpikeCount":10},' +
    '"findings":[],"suggestedAction":null,"appUrl":null}}',
);

/** Returns whether this version can read the value as a report. */
export function isStoredReport(value: unknown): value is CheckReport {
  return storedReport.safeParse(value).success;
}

// Older days are not thinned out again, even after a longer downtime.
const thinnedDays = 2;

/** Creates the access to the whole reports of the history: at each change and once a day (kept-reports.ts). */
export function createReportTable(db: PlainDb) {
  return {
    /** Stores whole reports in the history. */
    keepReports: async (reports: readonly (CheckReport & { readonly checkId: number })[]): Promise<void> => {
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
    /** Returns the stored reports in (fromMs, toMs], the last `limit` of them, oldest first; very long ones are shortened. */
    reports: async ({ fromMs, toMs, limit, ...key }: ReportsQuery): Promise<readonly CheckReport[]> => {
      const checkId = (await findChecks(db, [key])).get(checkKey(key));
      if (checkId === undefined) return [];
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
    /** Deletes reports of runs that ended before the instant, and thins out those of days before `thinBeforeMs`. */
    pruneReports: (limits: {
      readonly beforeMs: number;
      readonly thinBeforeMs: number;
      readonly maxRows: number;
    }): Promise<Pruned> => inTransaction(db, (db) => prune(db, limits)),
  };
}

export interface ReportsQuery extends CheckKey {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
}

const insertReports = rowStatement(
  ["bigint", "bigint", "bigint", "bytea"],
  (values) => `
    insert into check_reports (check_id, at_ms, severity, report) ${values}
    on conflict (check_id, at_ms) do update set severity = excluded.severity, report = excluded.report`,
);

async function prune(
  db: PlainDb,
  { beforeMs, thinBeforeMs, maxRows }: { beforeMs: number; thinBeforeMs: number; maxRows: number },
): Promise<Pruned> {
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
  const counts = [reports, thinned].map(({ numAffectedRows = 0n }) => Number(numAffectedRows));
  return { hasMore: counts.some((count) => count >= maxRows) };
}

/** Packs a report for the history: shortened to some kilobytes, deflated with the dictionary. */
export function packReport(report: CheckReport): Uint8Array {
  return deflateRawSync(JSON.stringify(forHistory(report)), { dictionary });
}

/** Unpacks a report of the history; null if it is of a version that cannot be read. */
export function unpackReport(packed: Uint8Array): CheckReport | null {
  const parsed = storedReport.safeParse(JSON.parse(inflateRawSync(packed, { dictionary }).toString("utf8")));
  return parsed.success ? parsed.data : null;
}

function forHistory(report: CheckReport): CheckReport {
  if (report.kind === "error") {
    const { reason, message } = report.error;
    return { ...report, error: { reason, message: cutText(message, historyBounds.characters) } };
  }
  const { assetTypeExcess } = report;
  return {
    ...report,
    result: boundResult(report.result, historyBounds),
    ...(assetTypeExcess === undefined ? {} : { assetTypeExcess: assetTypeExcess.slice(0, historyBounds.keys) }),
  };
}
