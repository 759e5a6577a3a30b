import { z } from "zod";

import { cutText } from "../../base/outside-text.ts";
import { formatAge } from "../../base/durations.ts";
import { formatCount } from "../../base/numbers.ts";
import { builtIn, type Whole } from "../../base/schema/section.ts";
import { cronPattern, duration } from "../../base/schema/values.ts";
import { dayMs, secondMs } from "../../base/time.ts";
import type { Finding, HealthcheckResult } from "../../contract/healthcheck.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import { walkReports } from "../../contract/report-pages.ts";
import type { Report } from "../../contract/reports.ts";
import type { ResultSeverity } from "../../contract/severity.ts";
import { resultOf, type CheckKind, type CheckSettings, type Evaluation, type SettingsTarget } from "../kind.ts";

const longMs = 365 * dayMs;

const reviewQueueSettings = {
  key: "reviewQueue",
  needs: "hasReports",
  switchedBy: "enabled",
  description: "The watcher of the queue of proposals that wait for the customer's review.",
  shape: {
    enabled: builtIn(z.boolean(), false).describe("Whether the check `review-queue` runs."),
    schedule: builtIn(cronPattern, "*/10 * * * *").describe("Its cron pattern, in the organization's timezone."),
    warnAfter: builtIn(duration(0, longMs), "4h").describe("`warn` when the oldest report is older."),
    failAfter: builtIn(duration(0, longMs), "24h").describe("`fail` when the oldest report is older."),
  },
} as const satisfies CheckSettings;
export type ReviewQueueTarget = SettingsTarget<"review-queue", typeof reviewQueueSettings>;
type Ages = Pick<Whole<typeof reviewQueueSettings.shape>, "warnAfterMs" | "failAfterMs">;

/** Reports that wait too long for the customer's review. */
export const reviewQueue = {
  holdsGate: false,
  isSaidByFinding: false,
  isClosedFinding: () => true,
  // The platform lists the current queue only.
  canLookBack: false,
  alertName: "FlatlineReviewQueue",
  back: "the queue is back under the threshold",
  summaryOf: ({ result }, durationText) => {
    const { queued, oldestAgeSeconds } = result?.observed ?? {};
    const count = typeof queued === "number" ? `${formatCount(queued)} wait for review` : "review queue";
    if (typeof oldestAgeSeconds !== "number") return count;
    return `${count}, the oldest for ${durationText(oldestAgeSeconds * secondMs)}`;
  },
  settings: reviewQueueSettings,
  run: async ({ slug, settings: thresholds }: ReviewQueueTarget, { api, nowMs, appUrl, signal }) => {
    const reports = await listQueue(api(), slug, signal);
    return { result: evaluateReviewQueue({ slug, nowMs, thresholds, reports, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;

/** Reads all reports that wait for the customer's review, each id once. */
async function listQueue(api: PlatformApi, slug: string, signal: AbortSignal): Promise<QueuedReport[]> {
  const reports: QueuedReport[] = [];
  const refs = new Set<string>();
  for await (const report of walkReports(api, { slug, needsCustomerReview: true }, { signal })) {
    const queued = queuedReport(report);
    if (queued.ref !== null && refs.has(queued.ref)) continue;
    if (queued.ref !== null) refs.add(queued.ref);
    reports.push(queued);
  }
  return reports;
}

/** A report that waits for the customer's review. */
export interface QueuedReport {
  /** Its id; null: the service shows none. */
  readonly ref: string | null;
  readonly title: string | null;
  /** null: unreadable or not shown; such a report counts in `queued` only (CONTRACT 9). */
  readonly createdAtMs: number | null;
}

// Bounds notifications and metrics; the message has the number of all.
const namedReports = 10;
const longestTitle = 80;
// Bounds the memory of a long queue; the API's ids are numbers.
const longestRef = 64;
// ISO 8601 with an offset or Z, or a plain date. A time without an offset would depend on the machine's timezone.
const readableInstant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/;

/** Reads a report of the listing, of which only the proposals are required. */
export function queuedReport(report: Report): QueuedReport {
  const id = report["id"];
  const title = report["title"];
  const createdAt = report["createdAt"];
  const createdAtMs =
    typeof createdAt === "string" && readableInstant.test(createdAt) ? Date.parse(createdAt) : Number.NaN;
  return {
    ref: typeof id === "string" || typeof id === "number" ? cutText(String(id), longestRef) : null,
    title: typeof title === "string" && title !== "" ? cutText(title, longestTitle) : null,
    createdAtMs: Number.isFinite(createdAtMs) ? createdAtMs : null,
  };
}

/** Returns the verdict by the age of the oldest report; findings name the reports, oldest first. */
export function evaluateReviewQueue(
  queue: Evaluation & { readonly thresholds: Ages; readonly reports: readonly QueuedReport[] },
): HealthcheckResult {
  const { slug, nowMs, thresholds, reports } = queue;
  const aged = reports
    .flatMap((report) =>
      report.createdAtMs === null ? [] : [{ report, ageMs: Math.max(0, nowMs - report.createdAtMs) }],
    )
    .toSorted((left, right) => right.ageMs - left.ageMs);
  const oldestAgeMs = aged[0]?.ageMs ?? null;
  const severity = severityOfAge(oldestAgeMs, thresholds);
  const late = aged.filter(({ ageMs }) => severityOfAge(ageMs, thresholds) !== "ok");

  const findings: Finding[] = late.slice(0, namedReports).map(({ report, ageMs }) => ({
    kind: "review-queue.report",
    ref: report.ref,
    severity: severityOfAge(ageMs, thresholds),
    message: `${nameOf(report)} has waited ${formatAge(ageMs)} for review`,
  }));
  if (oldestAgeMs !== null && severity !== "ok") {
    const more = late.length > namedReports ? `, ${namedReports} of them named here` : "";
    const message =
      `${reports.length} ${reports.length === 1 ? "report" : "reports"} in the review queue, ` +
      `${late.length} for at least ${formatAge(Math.min(thresholds.warnAfterMs, thresholds.failAfterMs))}${more}; ` +
      `the oldest has waited ${formatAge(oldestAgeMs)}`;
    findings.unshift({ kind: "review-queue", ref: slug, severity, message });
  }

  return resultOf(queue, {
    id: "review-queue",
    title: "Reports that wait for the customer's review",
    category: "reviewing",
    severity,
    observed: {
      queued: reports.length,
      oldestAgeSeconds: oldestAgeMs === null ? null : Math.floor(oldestAgeMs / secondMs),
    },
    threshold: {
      warnAfterSeconds: thresholds.warnAfterMs / secondMs,
      failAfterSeconds: thresholds.failAfterMs / secondMs,
    },
    findings,
    advice: "Review the waiting proposals, oldest first: nothing happens to these assets until then.",
  });
}

// `fail` is tested first, whichever threshold is larger, as for a spike (CONTRACT 2).
function severityOfAge(ageMs: number | null, thresholds: Ages): ResultSeverity {
  if (ageMs === null) return "ok";
  if (ageMs >= thresholds.failAfterMs) return "fail";
  return ageMs >= thresholds.warnAfterMs ? "warn" : "ok";
}

function nameOf(report: QueuedReport): string {
  const name = report.ref === null ? "a report" : `report ${report.ref}`;
  return report.title === null ? name : `${name} (${report.title})`;
}
