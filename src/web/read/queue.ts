import { messageOf } from "../../base/errors.ts";
import { walkReportPages } from "../../contract/report-pages.ts";
import type { Report } from "../../contract/reports.ts";
import { queuedReport } from "../../checks/review-queue/evaluate.ts";
import type { Running } from "./running.ts";

/** A proposal that waits for the customer. */
export interface PageProposal {
  readonly id: string;
  readonly decision: string | null;
  readonly assetId: string;
  readonly assetType: string;
  readonly content: string;
}

/** A report that waits for the customer, with its proposals that wait. */
export interface PageQueuedReport {
  readonly slug: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly reportId: string;
  readonly title: string | null;
  readonly createdAtMs: number | null;
  readonly proposals: readonly PageProposal[];
  readonly sla: { readonly dueAtMs: number | null; readonly breached: boolean } | null;
  /** What else the service says of it, in order. */
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  /** warnAfter of its organization. */
  readonly warnAfterMs: number;
  readonly failAfterMs: number;
}

/** What waits in all review queues that are watched; of what could not be asked, why. */
export interface PageQueue {
  readonly reports: readonly PageQueuedReport[];
  readonly failures: readonly { readonly slug: string; readonly message: string }[];
  /** No organization has a watched queue. */
  readonly isWatched: boolean;
}

// A page for people: who has more waits for the command line anyway.
const mostReports = 1_000;
const pageLimit = 100;

/** Asks the source for what waits in every watched queue, one organization after the other. */
export async function readQueues(
  running: Pick<Running, "config" | "platform">,
  signal: AbortSignal,
): Promise<PageQueue> {
  const config = running.config();
  const watched = config.organizations.filter(({ reviewQueue }) => reviewQueue.enabled);
  // With a local source asking costs nothing: everybody's queue is shown.
  const asked = config.source.holdsEvents ? config.organizations : watched;
  const reports: PageQueuedReport[] = [];
  const failures: { slug: string; message: string }[] = [];
  for (const { slug, labels, reviewQueue } of asked) {
    const { warnAfterMs, failAfterMs } = reviewQueue;
    try {
      const api = running.platform().forOrganization(slug);
      for await (const page of walkReportPages(
        api,
        { slug, needsCustomerReview: true, limit: pageLimit },
        { signal },
      )) {
        reports.push(
          ...page.reports.map((report) => ({ ...pageReport(report), slug, labels, warnAfterMs, failAfterMs })),
        );
        if (reports.length >= mostReports) break;
      }
    } catch (error) {
      failures.push({ slug, message: messageOf(error) });
    }
  }
  return { reports, failures, isWatched: asked.length > 0 };
}

function pageReport(report: Report): Omit<PageQueuedReport, "slug" | "labels" | "warnAfterMs" | "failAfterMs"> {
  const { ref, title, createdAtMs } = queuedReport(report);
  const sla = report["sla"];
  // A report is listed when one of its proposals waits; the others may have been decided.
  const waiting = (report.proposals ?? []).filter((proposal) => proposal["needsCustomerReview"] !== false);
  return {
    reportId: ref ?? "–",
    title,
    createdAtMs,
    proposals: waiting.map(({ id, asset, ...proposal }) => ({
      id: String(id),
      decision: textOf(proposal["decision"]),
      assetId: String(asset.id),
      assetType: textOf(asset["type"]) ?? "asset",
      content: textOf(asset["content"]) ?? `${asset.id}`,
    })),
    sla: isRecord(sla) ? { dueAtMs: instantOf(sla["dueAt"]), breached: sla["breached"] === true } : null,
    facts: factsOf(report),
  };
}

const shownScans = 10;

function factsOf(report: Report): PageQueuedReport["facts"] {
  const reporter = isRecord(report["reporter"]) ? report["reporter"] : {};
  const by = [textOf(reporter["name"]), textOf(reporter["kind"])].filter((part) => part !== null);
  const organization = textOf(reporter["organization"]);
  const scans: unknown[] = Array.isArray(report["scans"]) ? report["scans"] : [];
  const scanned = scans.slice(0, shownScans).flatMap((scan) => {
    const facts = isRecord(scan) ? [textOf(scan["status"]), textOf(scan["at"])].filter((part) => part !== null) : [];
    return facts.length === 0 ? [] : [facts.join(" ")];
  });
  return [
    { name: "status", value: textOf(report["status"]) },
    { name: "source", value: textOf(report["source"]) },
    { name: "country", value: textOf(report["country"]) },
    { name: "reported by", value: [...by, ...(organization === null ? [] : [`of ${organization}`])].join(", ") },
    { name: "updated", value: textOf(report["updatedAt"]) },
    { name: "scans", value: scanned.join("; ") },
  ].flatMap(({ name, value }) => (value === null || value === "" ? [] : [{ name, value }]));
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
