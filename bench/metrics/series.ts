import { Counter, Gauge, Registry } from "prom-client";

import { secondMs } from "../../src/base/time.ts";
import { fleetInstruments } from "../../src/metrics/catalogue.ts";
import type { CheckSeriesInput } from "../../src/metrics/check-series.ts";
import { createMetrics, type FleetSamples } from "../../src/metrics/metrics.ts";
import { evaluateSpike, type SpikeResult } from "../../src/spike/spike.ts";

// Twenty-nine series of each organization, as the daemon has of an ok one with stored events: its severity, counts,
// thresholds and findings, its runs and when they were, and its gate. A fleet on the default schedule of 5 minutes,
// scraped every 15 seconds: so many have run since the last scrape.
const changedShare = 1 / 20;

const check = "dead-asset-spike" as const;
const startedAtMs = Date.UTC(2026, 10, 21);
const scrapeIntervalMs = 15_000;
const runIntervalMs = 300_000;
const noFleet = Object.fromEntries(Object.keys(fleetInstruments).map((name) => [name, []])) as unknown as FleetSamples;

/** The same series on either side. */
export interface BenchSeries {
  /** Lets a twentieth of the organizations run again, as happens between two scrapes. */
  change(): void;
  render(): Promise<readonly Buffer[]>;
}

function slugOf(organization: number): string {
  return `organization-${organization}`;
}

/** When an organization ran last, so many scrapes after the start. */
function runAtMs(organization: number, round: number): number {
  return startedAtMs + round * scrapeIntervalMs + organization;
}

/** Counts that move from run to run, as real ones do. */
function resultOf(organization: number, round: number): SpikeResult {
  const counts = { currentCount: 20 + ((organization + round) % 13), baselineCount: 176 };
  return evaluateSpike({ slug: slugOf(organization), nowMs: runAtMs(organization, round), ...counts });
}

function input(organization: number, round: number): CheckSeriesInput {
  const slug = slugOf(organization);
  const atMs = runAtMs(organization, round);
  const result = resultOf(organization, round);
  return {
    check,
    slug,
    last: {
      lastReport: {
        kind: "result",
        check,
        slug,
        startedAtMs: atMs - 20,
        finishedAtMs: atMs,
        severity: "ok",
        result,
        counts: result.observed,
        baselineCoverage: 1,
      },
      severity: "ok",
      lastRunAtMs: atMs,
      lastSuccessAtMs: atMs,
    },
    nextDueAtMs: atMs + runIntervalMs,
    staleAfterMs: () => 3 * runIntervalMs,
  };
}

/** flatline's own. */
export function flatlineSeries(count: number): BenchSeries {
  const metrics = createMetrics({ version: "0.0.0", nodeVersion: "24.0.0", withProcess: false });
  const all = Array.from({ length: count }, (_, organization) => organization);
  for (const one of all) {
    metrics.checks.set(input(one, 0));
  }
  const fleet = { ...noFleet, flatline_gate_held: all.map((one) => [{ slug: slugOf(one) }, 0] as const) };
  let round = 0;
  return {
    change: () => {
      for (const one of changed(round++, count)) {
        metrics.checks.countRun({ check, slug: slugOf(one) }, "ok");
        metrics.checks.set(input(one, round));
      }
    },
    // The time of the first runs, always: no result becomes stale.
    render: () => metrics.render(fleet, startedAtMs),
  };
}

/** prom-client's, read from flatline's exposition so that they are the same. */
export async function promClientSeries(count: number): Promise<BenchSeries> {
  const registry = new Registry();
  const text = (await flatlineSeries(count).render()).join("");
  const instruments = new Map<string, Gauge | Counter>();
  for (const [, name = "", labelText = "", value = ""] of text.matchAll(/^(flatline_\w+)\{(.*slug=.*)\} (\S+)$/gm)) {
    const labels = Object.fromEntries([...labelText.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, is]) => [key, is]));
    const options = { name, help: name, labelNames: Object.keys(labels), registers: [registry] };
    const known = instruments.get(name) ?? (name.endsWith("_total") ? new Counter(options) : new Gauge(options));
    instruments.set(name, known);
    known.inc(labels, Number(value));
  }
  let round = 0;
  const set = (name: string, labels: Record<string, string>, value: number): void =>
    (instruments.get(`flatline_check_${name}`) as Gauge).set(labels, value);
  return {
    change: () => {
      for (const one of changed(round++, count)) {
        const labels = { check, slug: slugOf(one) };
        const { currentCount, ratio } = resultOf(one, round).observed;
        const atSeconds = runAtMs(one, round) / secondMs;
        set("observed", { ...labels, key: "currentCount" }, currentCount);
        set("observed", { ...labels, key: "ratio" }, ratio ?? 0);
        set("deaths", labels, currentCount);
        set("last_run_timestamp_seconds", labels, atSeconds);
        set("last_success_timestamp_seconds", labels, atSeconds);
        set("next_run_timestamp_seconds", labels, atSeconds + runIntervalMs / secondMs);
        instruments.get("flatline_check_runs_total")?.inc({ ...labels, outcome: "ok" });
      }
    },
    render: async () => [Buffer.from(await registry.metrics())],
  };
}

function changed(round: number, count: number): number[] {
  const some = Math.ceil(count * changedShare);
  return Array.from({ length: some }, (_, index) => (round * some + index) % count);
}
