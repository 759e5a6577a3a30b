import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { cutText } from "../../base/cut-text.ts";
import { healthcheckResultSchema } from "../../contract/healthcheck-schemas.ts";
import { checkErrorReasons, checkNames, type CheckReport } from "../../contract/report.ts";
import { boundResult } from "../../contract/result-bounds.ts";

const nullableNumber = z.number().nullable();
const base = {
  check: z.enum(checkNames),
  slug: z.string(),
  startedAtMs: z.number(),
  finishedAtMs: z.number(),
  version: z.string().exactOptional(),
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

interface Bounds {
  readonly keys: number;
  readonly findings: number;
  readonly characters: number;
}

/** Longest report that is kept whole: what is usual fits, and a remote answer may have 4 MiB for each organization. */
export const wholeCharacters = 64 * 1_024;
// What metrics show (the first 32 keys in order of their names, CONTRACT 6) and what people read.
const lastBounds: Bounds = { keys: 64, findings: 5_000, characters: 200 };
// Of 1,000 organizations 90,000 reports and more are kept, in 1 GB that is not theirs alone.
const historyBounds: Bounds = { keys: 64, findings: 20, characters: 300 };

/** A last report that is longer than 64 Ki characters, without what nobody reads. */
export function boundLastReport(report: CheckReport): CheckReport {
  return boundReport(report, lastBounds);
}

/** Whether a value is a report as this version knows them. */
export function isStoredReport(value: unknown): boolean {
  return storedReport.safeParse(value).success;
}

/** A report as it is kept in the history: at most some kilobytes of it, deflated. */
export function packReport(report: CheckReport): Uint8Array {
  return deflateRawSync(JSON.stringify(boundReport(report, historyBounds)));
}

/** The report of the history; null for one of another version that this one cannot read any more. */
export function unpackReport(packed: Uint8Array): CheckReport | null {
  const parsed = storedReport.safeParse(JSON.parse(inflateRawSync(packed).toString("utf8")));
  return parsed.success ? parsed.data : null;
}

function boundReport<Report extends CheckReport>(report: Report, bounds: Bounds): Report;
function boundReport(report: CheckReport, bounds: Bounds): CheckReport {
  if (report.kind === "error") {
    const { reason, message } = report.error;
    return { ...report, error: { reason, message: cutText(message, bounds.characters) } };
  }
  const { assetTypeExcess } = report;
  return {
    ...report,
    result: boundResult(report.result, bounds),
    ...(assetTypeExcess === undefined ? {} : { assetTypeExcess: assetTypeExcess.slice(0, bounds.keys) }),
  };
}
