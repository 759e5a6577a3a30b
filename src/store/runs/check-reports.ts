import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { cutText } from "../../base/cut-text.ts";
import { healthcheckResultSchema } from "../../contract/healthcheck-schemas.ts";
import { checkErrorReasons, type CheckReport } from "../../contract/report.ts";
import { boundResult, type ResultBounds } from "../../contract/result-bounds.ts";

const nullableNumber = z.number().nullable();
const base = {
  check: z.string(),
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

// 1,000 organizations keep 90,000 reports and more, within a fraction of 1 GB.
const historyBounds: ResultBounds = { keys: 64, findings: 20, characters: 300 };

// What the reports of a calm check share, so that one takes 85 bytes in place of 366. Packed reports refer to it: it never changes.
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
export function isStoredReport(value: unknown): boolean {
  return storedReport.safeParse(value).success;
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
