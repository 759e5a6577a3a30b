import { noEvidence } from "../../src/contract/spike-evidence.ts";
import type { CheckReport } from "../../src/contract/report.ts";
import { checkNames } from "../../src/contract/report.ts";
import { fleetInstruments } from "../../src/metrics/catalogue.ts";
import { createMetrics, type FleetSamples, type Metrics } from "../../src/metrics/metrics.ts";
import { errorReport, resultReport } from "./check-reports.ts";
import { parseExposition, type ParsedFamily } from "./exposition-parser.ts";

export const nowMs = 1_767_225_600_000;

const noFleet = Object.fromEntries(
  Object.keys(fleetInstruments).map((family) => [family, []]),
) as unknown as FleetSamples;

export function newMetrics(withProcess = false): Metrics {
  return createMetrics({ version: "1.2.3", nodeVersion: "24.0.0", withProcess });
}

export async function textOf(metrics: Metrics, fleet: Partial<FleetSamples> = {}): Promise<string> {
  return (await metrics.render({ ...noFleet, ...fleet }, nowMs)).join("");
}

export async function read(metrics: Metrics, fleet: Partial<FleetSamples> = {}): Promise<Map<string, ParsedFamily>> {
  return parseExposition(await textOf(metrics, fleet));
}

export function show(metrics: Metrics, report: CheckReport | null, slug = "acme"): void {
  metrics.checks.set({
    check: "dead-asset-spike",
    slug,
    last: report && { lastReport: report, severity: report.severity, lastRunAtMs: nowMs, lastSuccessAtMs: nowMs },
    nextDueAtMs: nowMs + 1,
    staleAfterMs: () => 600_000,
  });
}

/** An app that has seen everything once, with names that need every escape. */
export function busyMetrics(): { metrics: Metrics; fleet: Partial<FleetSamples> } {
  const metrics = newMetrics(true);
  const odd = 'a"b\\c\nd é 日本';
  metrics.show({ checks: checkNames, receivers: ["ops", odd] });
  show(
    metrics,
    resultReport({ finishedAtMs: nowMs, evidence: { ...noEvidence, assetTypes: [{ assetType: "URL", excess: 36 }] } }),
  );
  show(metrics, errorReport({ finishedAtMs: nowMs, slug: odd }), odd);
  show(metrics, null, "never-run");
  metrics.checkRan(resultReport(), 0.02);
  metrics.checkRan(errorReport({ slug: odd }), 30);
  metrics.sourceRequest("dead_asset_spike", "429");
  metrics.eventsIngested("DETECTED_AS_DEAD", 5);
  metrics.configReloaded(true, nowMs);
  const fleet = Object.entries(fleetInstruments).map(([family, { labels }]) => {
    const texts = Object.entries(labels).map(([label, closed]) => [label, closed?.[0] ?? odd]);
    return [family, [[Object.fromEntries(texts), 1]]];
  });
  return { metrics, fleet: Object.fromEntries(fleet) as FleetSamples };
}
