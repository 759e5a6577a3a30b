import { z } from "zod";
import { FlatlineError } from "../base/errors.ts";
import { healthcheckResultSchema } from "../contract/healthcheck.ts";
import { checkErrorReasons, checkNames, type CheckReport } from "../contract/report.ts";

const nullableNumber = z.number().nullable();
const base = { check: z.enum(checkNames), slug: z.string(), startedAtMs: z.number(), finishedAtMs: z.number() };

const storedReport = z.discriminatedUnion("kind", [
  z.object({
    ...base,
    kind: z.literal("result"),
    severity: z.enum(["ok", "warn", "fail"]),
    result: healthcheckResultSchema,
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

/** A report as it is kept in a row. */
export function writeReport(report: CheckReport): string {
  return JSON.stringify(report);
}

/** The report of a row; null for null. @throws store_unusable when the row holds something else */
export function readReport(text: string | null): CheckReport | null {
  if (text === null) return null;
  const parsed = storedReport.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new FlatlineError("store_unusable", "a stored report cannot be read", { cause: parsed.error });
}
