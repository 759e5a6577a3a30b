import { createRequire } from "node:module";
import type { Counter as CounterType, Gauge as GaugeType, Registry as RegistryType } from "prom-client";

import { createAppMetrics } from "../../src/metrics/app-metrics.ts";
import type { ExpositionBody } from "../../src/metrics/exposition-body.ts";
import type { CheckSeriesInput, FleetGauges } from "../../src/metrics/metrics.ts";

// Twelve series of each organization: severity, up, last run, last success, next run and runs by outcome, as they are when
// the service does not answer. With a result it is 27, whose cost grows alike on both sides.
const organizations = 10_000;
const quickOrganizations = 200;
// A fleet on the default schedule of 5 minutes, scraped every 15 seconds: so many have run since the last scrape.
const changedShare = 1 / 20;

const startedAtMs = Date.UTC(2026, 10, 21);
const noFleet = {
  alerts: [],
  outbox: [],
  receivers: [],
  pauses: new Map(),
  storeBytes: 4_096,
  unwatchedSlugs: 0,
  markers: [],
  gates: [],
  discovery: [],
};

/** The same series on either side. */
export interface BenchSeries {
  /** Lets a twentieth of the organizations run again, as happens between two scrapes. */
  change(): void;
  render(format: "text" | "openmetrics", encoding: "identity" | "gzip"): Promise<ExpositionBody>;
}

function input(organization: number, runAtMs: number): CheckSeriesInput {
  const check = "dead-asset-spike" as const;
  const slug = `organization-${organization}`;
  const error = { reason: "network" as const, message: "connect ECONNREFUSED", status: null };
  const lastReport = { kind: "error" as const, check, slug, startedAtMs: runAtMs - 20, finishedAtMs: runAtMs };
  return {
    check,
    slug,
    lastReport: { ...lastReport, severity: "unknown" as const, error },
    lastRunAtMs: runAtMs,
    lastSuccessAtMs: startedAtMs - 3_600_000,
    nextDueAtMs: runAtMs + 300_000,
    staleAfterMs: 900_000,
  };
}

/** As many organizations as both sides have. */
export function seriesOrganizations(quick: boolean): number {
  return quick ? quickOrganizations : organizations;
}

/** flatline's own. */
export function flatlineSeries(count: number): BenchSeries {
  const metrics = createAppMetrics({ version: "0.0.0", nodeVersion: "24.0.0", withProcess: false });
  for (let one = 0; one < count; one++) metrics.checks.set(input(one, startedAtMs + one));
  let round = 0;
  return {
    change: () => {
      for (const one of changed(round++, count)) {
        metrics.checks.countRun("dead-asset-spike", `organization-${one}`, "error");
        metrics.checks.set(input(one, startedAtMs + round * 15_000 + one));
      }
    },
    render: (format, encoding) => {
      const gauges: FleetGauges = { ...noFleet, nowMs: startedAtMs };
      return metrics.render(format, encoding, gauges);
    },
  };
}

/** prom-client's, read from flatline's exposition so that they are the same. */
export async function promClientSeries(quick: boolean): Promise<BenchSeries> {
  const { Counter, Gauge, Registry } = createRequire(import.meta.url)("prom-client") as {
    Counter: typeof CounterType;
    Gauge: typeof GaugeType;
    Registry: typeof RegistryType;
  };
  const registry = new Registry();
  const text = (await flatlineSeries(seriesOrganizations(quick)).render("text", "identity")).join("");
  const count = seriesOrganizations(quick);
  const instruments = new Map<string, GaugeType | CounterType>();
  for (const [, name = "", labelText = "", value = ""] of text.matchAll(
    /^(flatline_check_\w+)\{(.*slug=.*)\} (\S+)$/gm,
  )) {
    const labels = Object.fromEntries([...labelText.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, is]) => [key, is]));
    const options = { name, help: name, labelNames: Object.keys(labels), registers: [registry] };
    const known = instruments.get(name) ?? (name.endsWith("_total") ? new Counter(options) : new Gauge(options));
    instruments.set(name, known);
    known.inc(labels, Number(value));
  }
  let round = 0;
  const times = ["last_run", "next_run"].map((time) => instruments.get(`flatline_check_${time}_timestamp_seconds`));
  const runs = instruments.get("flatline_check_runs_total");
  return {
    change: () => {
      for (const one of changed(round++, count)) {
        const labels = { check: "dead-asset-spike", slug: `organization-${one}` };
        for (const time of times) (time as GaugeType).set(labels, startedAtMs / 1_000 + round * 15 + one);
        runs?.inc({ ...labels, outcome: "error" });
      }
    },
    render: async () => [Buffer.from(await registry.metrics())],
  };
}

function changed(round: number, count: number): number[] {
  const some = Math.ceil(count * changedShare);
  return Array.from({ length: some }, (_, index) => (round * some + index) % count);
}
