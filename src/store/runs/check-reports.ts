import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { cutText } from "../../base/cut-text.ts";
import { healthcheckResultSchema } from "../../contract/healthcheck-schemas.ts";
import { checkErrorReasons, checkNames, type CheckReport, type ResultReport } from "../../contract/report.ts";
import { boundResult } from "../../contract/result-bounds.ts";
import { joinReport, splitReport, type ReportParts } from "./report-parts.ts";

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

// A remote answer may have 4 MiB, one for each organization. What is usual fits whole; of the rest stays what metrics show
// (the first 32 keys in order of their names, CONTRACT 6) and what people read.
const wholeCharacters = 64 * 1_024;
const lastBounds: Bounds = { keys: 64, findings: 5_000, characters: 200 };
const doubleBytes = 8;
/** The longest number of JSON. */
const numberCharacters = 24;
// Of 1,000 organizations 90,000 reports and more are kept, in 1 GB that is not theirs alone.
const historyBounds: Bounds = { keys: 64, findings: 20, characters: 300 };

/** A last report as it is kept in a row: whole up to 64 Ki characters, then without what nobody reads. */
export function writeReport(report: CheckReport): string {
  const whole = JSON.stringify(report);
  return whole.length <= wholeCharacters ? whole : JSON.stringify(boundReport(report, lastBounds));
}

/** The same in two parts. */
export function writeParts(report: ResultReport): ReportParts {
  const parts = splitReport(report);
  const isSmall = parts.shape.length + (parts.values.length / doubleBytes) * numberCharacters <= wholeCharacters;
  if (isSmall || JSON.stringify(report).length <= wholeCharacters) return parts;
  return splitReport(boundReport(report, lastBounds));
}

/** The report of two parts; null as with readReport, and where one is missing. */
export function readParts(
  base: Pick<CheckReport, "check" | "slug" | "finishedAtMs">,
  { shape, values }: { readonly shape: string | null; readonly values: Uint8Array | null },
): CheckReport | null {
  return shape === null || values === null ? null : validReport(joinReport(base, shape, values));
}

/** The report of a row; null for null, and for one of another version that this one cannot read any more. */
export function readReport(text: string | null): CheckReport | null {
  return text === null ? null : parseReport(text);
}

/** A report as it is kept in the history: at most some kilobytes of it, deflated. */
export function packReport(report: CheckReport): Uint8Array {
  return deflateRawSync(JSON.stringify(boundReport(report, historyBounds)));
}

/** The report of the history; null as with readReport. */
export function unpackReport(packed: Uint8Array): CheckReport | null {
  return parseReport(inflateRawSync(packed).toString("utf8"));
}

function parseReport(text: string): CheckReport | null {
  return validReport(JSON.parse(text));
}

function validReport(value: unknown): CheckReport | null {
  const parsed = storedReport.safeParse(value);
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
