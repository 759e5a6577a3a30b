import { createAppMetrics, type AppMetrics } from "../../src/metrics/app-metrics.ts";
import type { ExpositionFormat } from "../../src/metrics/exposition.ts";
import type { FleetGauges } from "../../src/metrics/metrics.ts";
import { checkNames, type CheckReport } from "../../src/contract/report.ts";
import { errorReport, resultReport } from "./check-reports.ts";
import { parseExposition, type ParsedFamily } from "./exposition-parser.ts";
import { noEvidence } from "../../src/contract/spike-evidence.ts";

export const nowMs = 1_767_225_600_000;

export const noFleet: FleetGauges = {
  alerts: [],
  outbox: [],
  receivers: [],
  pauses: new Map(),
  storeBytes: 4_096,
  unwatchedSlugs: 0,
  markers: [],
  gates: [],
  incidents: [],
  checks: checkNames,
  families: ["deaths", "unreachable", "no-events"],
  hasVerdict: false,
  discovery: [],
  nowMs,
};

export function newMetrics(withProcess = false): AppMetrics {
  return createAppMetrics({ version: "1.2.3", nodeVersion: "24.0.0", withProcess });
}

export async function read(
  metrics: AppMetrics,
  gauges: Partial<FleetGauges> = {},
  format: ExpositionFormat = "text",
): Promise<Map<string, ParsedFamily>> {
  return parseExposition((await metrics.render(format, "identity", { ...noFleet, ...gauges })).join(""), format);
}

export function show(metrics: AppMetrics, report: CheckReport | null, slug = "acme"): void {
  metrics.checks.set({
    check: "dead-asset-spike",
    slug,
    lastReport: report,
    lastRunAtMs: nowMs,
    lastSuccessAtMs: nowMs,
    nextDueAtMs: nowMs + 1,
    staleAfterMs: 600_000,
  });
}

/** An app that has seen everything once, with names that need every escape. */
export function busyMetrics(): { metrics: AppMetrics; gauges: Partial<FleetGauges> } {
  const metrics = newMetrics(true);
  const odd = 'a"b\\c\nd é 日本';
  show(
    metrics,
    resultReport({ finishedAtMs: nowMs, evidence: { ...noEvidence, assetTypes: [{ assetType: "URL", excess: 36 }] } }),
  );
  show(metrics, errorReport({ finishedAtMs: nowMs, slug: odd }), odd);
  show(metrics, null, "never-run");
  metrics.checkRan(resultReport(), 0.02);
  metrics.checkRan(errorReport({ slug: odd }), 30);
  metrics.runSkipped("dead-asset-spike", "late", 3);
  metrics.schedulerLag(0.2);
  metrics.attemptBegan("ops")(true);
  metrics.attemptBegan("ops");
  metrics.notificationAttempt("ops", "delivered", 0.1);
  metrics.sourceRequest("dead_asset_spike", "429");
  metrics.alertJudged("sentinel", "checker");
  metrics.incidentOpened("deaths");
  metrics.apiRequest("list_reports", "200");
  metrics.eventsIngested("DETECTED_AS_DEAD", 5);
  metrics.eventsRefused("seconds", 2);
  metrics.configReloaded(true, nowMs);
  const alert = {
    check: "dead-asset-spike",
    slug: "acme",
    severity: "fail",
    state: "firing",
    silenced: false,
  } as const;
  return {
    metrics,
    gauges: {
      alerts: [alert, { ...alert, slug: odd, severity: "unknown", silenced: true }],
      gates: [
        { slug: "acme", heldSinceMs: nowMs - 90_000 },
        { slug: "globex", heldSinceMs: null },
      ],
      outbox: [{ receiver: "ops", pending: 2, deadLetters: 1, oldestCreatedAtMs: nowMs - 90_000 }],
      receivers: ["ops", "pager"],
      pauses: new Map([["ops", nowMs + 60_000]]),
      markers: [
        { text: odd, slug: null, atMs: nowMs - 1 },
        { text: "rollout", slug: odd, atMs: nowMs - 60_000 },
        { text: "rollout", slug: odd, atMs: nowMs - 30_000 },
      ],
      discovery: [{ source: odd, isUp: true, isHeld: false, organizations: 7 }],
    },
  };
}
