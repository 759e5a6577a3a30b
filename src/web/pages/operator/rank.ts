import { compareSeverity, type Severity } from "../../../contract/severity.ts";
import type { PageProposal, PageQueuedReport } from "../../read/queue.ts";

/** One proposal that waits, with its report; null: the report names no proposal that waits. */
export interface QueueRow {
  readonly report: PageQueuedReport;
  readonly proposal: PageProposal | null;
  /** By the age of the report and the thresholds of its organization; unknown without a readable age. */
  readonly severity: Severity;
  readonly ageMs: number | null;
  /** Share of the time after which it fails. */
  readonly share: number;
}

/** The rows of one organization. */
export interface QueueGroup {
  readonly slug: string;
  readonly rows: readonly QueueRow[];
}

/** Returns a row for each proposal: the worst first, then by how much of its time is over, which differs by organization. */
export function rankQueue(reports: readonly PageQueuedReport[], nowMs: number): QueueRow[] {
  return reports
    .flatMap((report): QueueRow[] => {
      const ageMs = report.createdAtMs === null ? null : Math.max(0, nowMs - report.createdAtMs);
      const common = {
        report,
        severity: severityOf(report, ageMs),
        ageMs,
        share: ageMs === null ? 0 : ageMs / Math.max(1, report.failAfterMs),
      };
      if (report.proposals.length === 0) return [{ ...common, proposal: null }];
      return report.proposals.map((proposal) => ({ ...common, proposal }));
    })
    .toSorted((left, right) => compareSeverity(right.severity, left.severity) || right.share - left.share);
}

/** Groups ranked rows by organization, that of the worst row first. */
export function groupQueue(rows: readonly QueueRow[]): QueueGroup[] {
  return [...Map.groupBy(rows, ({ report }) => report.slug)].map(([slug, own]) => ({ slug, rows: own }));
}

function severityOf({ warnAfterMs, failAfterMs }: PageQueuedReport, ageMs: number | null): Severity {
  if (ageMs === null) return "unknown";
  if (ageMs >= failAfterMs) return "fail";
  return ageMs >= warnAfterMs ? "warn" : "ok";
}
