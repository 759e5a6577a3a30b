import type { Logger } from "../base/logger.ts";
import type { CheckReport } from "../contract/report.ts";
import type { Severity } from "../contract/severity.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { CheckKey, CheckState } from "../store/runs/schedule.ts";
import type { RunPlan } from "./due-times.ts";
import { targetKey } from "./target.ts";

/** What the scheduler tells of runs that were recorded, and remembers of them. */
export interface RunBook {
  /** What the store has of a check. */
  learn(state: CheckState): void;
  /** Counts and logs a run that was recorded. */
  note(report: CheckReport, durationSeconds: number, skipped: RunPlan["skipped"]): void;
  /** Of the last run; null before the first. */
  severityOf(check: CheckKey): Severity | null;
  forget(check: CheckKey): void;
}

/** An empty book. */
export function createRunBook(options: {
  readonly metrics: Pick<Metrics, "checkRan" | "runSkipped">;
  readonly logger: Logger;
}): RunBook {
  const { metrics, logger } = options;
  const severities = new Map<string, Severity>();
  return {
    learn: (state) => {
      if (state.severity !== null) severities.set(targetKey(state), state.severity);
    },
    note: (report, durationSeconds, skipped) => {
      const { check, slug, severity } = report;
      if (skipped.late > 0) metrics.runSkipped(check, "late", skipped.late);
      if (skipped.overlap > 0) metrics.runSkipped(check, "overlap", skipped.overlap);
      metrics.checkRan(report, durationSeconds);
      const key = targetKey(report);
      const previousSeverity = severities.get(key) ?? null;
      if (previousSeverity !== severity) severities.set(key, severity);
      const facts =
        report.kind === "error" ? { reason: report.error.reason, message: report.error.message } : report.counts;
      logger.debug({ check, slug, severity, durationSeconds, ...skipped, ...facts }, "check ran");
      if (previousSeverity !== severity)
        logger.info({ check, slug, severity, previousSeverity, ...facts }, "severity changed");
    },
    severityOf: (check) => severities.get(targetKey(check)) ?? null,
    forget: (check) => {
      severities.delete(targetKey(check));
    },
  };
}
