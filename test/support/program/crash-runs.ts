import type { CheckReport, ResultReport } from "../../../src/contract/report.ts";
import { resultReport } from "../check-reports.ts";

/** Organizations of the crash test. */
export const slugs = ["acme", "globex", "initech"] as const;

const startMs = Date.parse("2026-11-02T08:00:00.000Z");
const minuteMs = 60_000;

/** The report of an organization's n-th run, n from 1: each has another severity than the one before, so all are kept. */
export function reportOf(slug: string, number: number): ResultReport {
  return resultReport({
    slug,
    severity: number % 2 === 0 ? "warn" : "fail",
    finishedAtMs: startMs + number * minuteMs,
  });
}

/** Which run's report it is; 0: none yet. */
export function runNumberOf(report: Pick<CheckReport, "finishedAtMs"> | null): number {
  return report === null ? 0 : (report.finishedAtMs - startMs) / minuteMs;
}

export function alertIdOf(slug: string): string {
  return `alert-${slug}`;
}
