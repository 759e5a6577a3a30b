import type { Logger } from "../base/logger.ts";
import { countingOf } from "../contract/death-counts.ts";
import type { CheckReport } from "../contract/report.ts";
import type { Severity } from "../contract/severity.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { RunPlan } from "./due-times.ts";

/** A run that was recorded. */
export interface LoggedRun {
  readonly report: CheckReport;
  /** Severity of the run before; null for the first. */
  readonly previousSeverity: Severity | null;
  readonly durationSeconds: number;
  readonly skipped: RunPlan["skipped"];
}

/** Counts a run that was recorded, and logs it. */
export function logRun(
  { report, previousSeverity, durationSeconds, skipped }: LoggedRun,
  { metrics, logger }: { readonly metrics: Pick<Metrics, "checkRan" | "runSkipped">; readonly logger: Logger },
): void {
  const { check, slug, severity } = report;
  if (skipped.late > 0) metrics.runSkipped(check, "late", skipped.late);
  if (skipped.overlap > 0) metrics.runSkipped(check, "overlap", skipped.overlap);
  metrics.checkRan(report, durationSeconds);
  const facts =
    report.kind === "error"
      ? { reason: report.error.reason, message: report.error.message }
      : { ...report.counts, ...(countingOf(report.result) === "assets" ? { counting: "assets" } : {}) };
  logger.debug({ check, slug, severity, durationSeconds, ...skipped, ...facts }, "check ran");
  if (previousSeverity !== severity)
    logger.info({ check, slug, severity, previousSeverity, ...facts }, "severity changed");
}
