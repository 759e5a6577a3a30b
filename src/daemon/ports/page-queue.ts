import { walkReportPages } from "../../contract/report-pages.ts";
import type { Report } from "../../contract/reports.ts";
import { queuedReport } from "../../monitor/review-queue.ts";
import type { PageQueue, PageQueuedReport } from "../../web/page/ports.ts";
import type { Applied } from "../runtime.ts";

// A page for people: who has more waits for the command line anyway.
const mostReports = 1_000;
const pageLimit = 100;

/** Asks the source for what waits in every watched queue, one organization after the other. */
export async function readQueues({ config, checkDeps }: Applied, signal: AbortSignal): Promise<PageQueue> {
  const watched = config.organizations.filter(({ reviewQueue }) => reviewQueue.enabled);
  // With a local source asking costs nothing: everybody's queue is shown.
  const asked = config.source.type === "embedded" ? config.organizations : watched;
  const reports: PageQueuedReport[] = [];
  const failures: { slug: string; message: string }[] = [];
  for (const { slug } of asked) {
    try {
      const api = checkDeps.source.forOrganization(slug);
      for await (const page of walkReportPages(
        api,
        { slug, needsCustomerReview: true, limit: pageLimit },
        { signal },
      )) {
        reports.push(...page.reports.map((report) => pageReport(slug, report)));
        if (reports.length >= mostReports) break;
      }
    } catch (error) {
      failures.push({ slug, message: error instanceof Error ? error.message : String(error) });
    }
  }
  reports.sort((left, right) => (left.createdAtMs ?? Infinity) - (right.createdAtMs ?? Infinity));
  const first = watched[0]?.reviewQueue ?? config.organizations[0]?.reviewQueue;
  return {
    reports,
    failures,
    isWatched: asked.length > 0,
    warnAfterMs: first?.warnAfterMs ?? 0,
    failAfterMs: first?.failAfterMs ?? 0,
  };
}

function pageReport(slug: string, report: Report): PageQueuedReport {
  const { ref, title, createdAtMs } = queuedReport(report);
  const proposals = report.proposals ?? [];
  const sla = report["sla"];
  return {
    slug,
    reportId: ref ?? "–",
    title,
    createdAtMs,
    assets: proposals.map(({ asset }) => ({
      type: textOf(asset["type"]) ?? "asset",
      content: textOf(asset["content"]) ?? `${asset.id}`,
    })),
    proposals: proposals.map((proposal) => ({ id: String(proposal.id), decision: textOf(proposal["decision"]) })),
    sla: isRecord(sla) ? { dueAtMs: instantOf(sla["dueAt"]), breached: sla["breached"] === true } : null,
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function instantOf(value: unknown): number | null {
  const atMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
