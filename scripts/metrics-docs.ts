// Writes docs/metrics.md from the catalogue of instruments: node scripts/metrics-docs.ts
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { format, resolveConfig } from "prettier";

import { checkNames } from "../src/contract/report.ts";
import { checkInstruments, countedInstruments, fleetInstruments, type Instrument } from "../src/metrics/catalogue.ts";

/** Where the page is. */
export const metricsDocsFile = fileURLToPath(new URL("../docs/metrics.md", import.meta.url));

interface Example {
  readonly question: string;
  readonly query: string;
}

const examples: readonly Example[] = [
  {
    question: "Which organizations fail or warn now?",
    query: 'flatline_check_severity{check="dead-asset-spike",severity=~"warn|fail"} == 1',
  },
  {
    question:
      "Where could the check not be run for ten minutes? (`unknown` is no verdict: alert on it apart from spikes.)",
    query: 'min_over_time(flatline_check_severity{severity="unknown"}[10m]) == 1',
  },
  {
    question: "How many times the expected deaths does each organization see?",
    query:
      'flatline_check_deaths{check="dead-asset-spike"} / (flatline_check_expected_deaths{check="dead-asset-spike"} > 0)',
  },
  {
    question:
      "Did the liveness checker break, or did one attacker leave? Share of the organizations whose alert fires:",
    query: "flatline_fleet_spiking_organizations / (flatline_fleet_organizations > 0)",
  },
  {
    question: "How long does all but the slowest hundredth of the runs take?",
    query: "histogram_quantile(0.99, sum by (check, le) (rate(flatline_check_duration_seconds_bucket[15m])))",
  },
  {
    question: "Do runs start in time?",
    query: "histogram_quantile(0.99, sum by (le) (rate(flatline_scheduler_lag_seconds_bucket[15m]))) > 1",
  },
  {
    question: "Is a receiver down? Notifications that wait for longer than five minutes, or are dead letters:",
    query: "flatline_outbox_oldest_age_seconds > 300 or flatline_outbox_dead_letters > 0",
  },
  {
    question: "Which receivers asked to be left alone (`Retry-After`), and for how many seconds yet?",
    query: "flatline_receiver_paused_until_timestamp_seconds - time() > 0",
  },
  {
    question: "Which receivers take requests and do not answer?",
    query: "flatline_receiver_attempts_under_way > 0 and increase(flatline_receiver_timeouts_total[15m]) > 0",
  },
];

/** The text of docs/metrics.md, as prettier wants it. */
export async function renderMetricsDocs(): Promise<string> {
  const text = `<!-- Made by \`node scripts/metrics-docs.ts\` from src/metrics/catalogue.ts: change that, and run it. -->

# Metrics

\`GET /metrics\` answers in Prometheus' text format 0.0.4, with gzip where the scraper accepts it:

\`\`\`yaml
scrape_configs:
  - job_name: flatline
    static_configs: [{ targets: ["127.0.0.1:9640"] }]
\`\`\`

With \`server.publicRead: false\` Prometheus needs the token: \`authorization: { credentials_file: /run/secrets/flatline-token }\`.

\`slug\` is the organization, \`check\` is ${checkNames.map((name) => `\`${name}\``).join(", ")} or a healthcheck of the configuration, \`receiver\` a name of the configuration. No label is copied from \`labels\` of the configuration. Timestamps are seconds since 1970. Below, each metric has its type, its labels with their values where these are closed, and its meaning.

**Nothing stale is shown as fresh.** Until its first run an organization has no severity. After a failed run, and when the last verdict is older than three intervals of its schedule (at least two minutes), \`flatline_check_severity{severity="unknown"}\` is 1, \`flatline_check_up\` is 0, and what the last result said is absent. After a restart the last verdicts are back at once. An organization that is removed from the configuration loses all its series. Counters with closed labels are 0 from the start.

## Checks

${renderList(Object.values(checkInstruments))}

## The daemon

${renderList(Object.values(countedInstruments))}

\`code\` is the HTTP status, or why there was none; after 200 series of a counter the rest is counted as \`other\`.

## Fleet, alerts and outbox

${renderList(Object.values(fleetInstruments))}

## Process

\`process_*\` and \`nodejs_*\` are those of [prom-client](https://github.com/siimon/prom-client) (CPU, memory, file descriptors, heap, garbage collection, the delay of the event loop at each scrape), without \`nodejs_active_*_total\`, which are gauges by a counter's name, and the histogram of the event loop, which costs too much.

## Buckets

${renderBuckets()}

## Queries to begin with

${examples.map(({ question, query }) => `${question}\n\n\`\`\`promql\n${query}\n\`\`\``).join("\n\n")}

## One check at the pace of Prometheus

\`GET /probe?slug=SLUG[&check=CHECK]\` runs a check now and answers with the series of that run only, as the blackbox exporter does. A check that fails is 200 with \`flatline_check_up 0\`; a slug or check that is not configured is 404, no slug 400. Concurrent probes of one check of one organization share one run, and one within five seconds of a finished one gets its result. The run is bounded by the scrape's timeout (\`X-Prometheus-Scrape-Timeout-Seconds\`) less half a second; without the header by two minutes. It is neither counted nor stored, and changes no alert.

\`\`\`yaml
scrape_configs:
  - job_name: flatline-probe
    metrics_path: /probe
    scrape_interval: 5m
    scrape_timeout: 30s
    static_configs: [{ targets: [acme, globex] }]
    relabel_configs:
      - { source_labels: [__address__], target_label: __param_slug }
      - { source_labels: [__param_slug], target_label: instance }
      - { target_label: __address__, replacement: "127.0.0.1:9640" }
\`\`\`
`;
  return format(text, { ...(await resolveConfig(metricsDocsFile)), parser: "markdown" });
}

function renderList(rows: readonly Instrument[]): string {
  return rows
    .map(({ name, type, labels, help, note }) => {
      const labelText = Object.entries(labels).map(([label, allowed]) =>
        allowed === null ? `\`${label}\`` : `\`${label}\` (${allowed.join(", ")})`,
      );
      const meaning = `${help} ${note}`.trim();
      return `- \`${name}\`: ${[type, ...labelText].join(", ")}. ${meaning}`;
    })
    .join("\n");
}

function renderBuckets(): string {
  return Object.values<Instrument>(countedInstruments)
    .filter(({ buckets }) => buckets !== undefined)
    .map(({ name, buckets = [] }) => `- \`${name}\`: ${buckets.join(", ")}`)
    .join("\n");
}

if (import.meta.main) writeFileSync(metricsDocsFile, await renderMetricsDocs());
