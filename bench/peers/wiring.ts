import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { freePort } from "../../test/support/free-port.ts";
import { eventually } from "../../test/support/program/program.ts";
import { startCommand, usageOf } from "../processes.ts";
import { healthcheckPath } from "./platform.ts";

/** Describes the world to a monitor. */
export interface Wiring {
  /** A folder of its own. */
  readonly folder: string;
  readonly platformUrl: string;
  readonly receiverUrl: string;
  readonly slugs: readonly string[];
  /** How often all ask the platform. */
  readonly intervalSeconds: number;
  /** How long alerts are collected before the first message. */
  readonly groupWaitSeconds: number;
  /** The least time that passes before new alerts are sent in a further message. */
  readonly groupIntervalSeconds: number;
}

/** The programs of the peer, each named as its Debian package. */
export const peerPrograms = {
  blackbox_exporter: "prometheus-blackbox-exporter",
  Prometheus: "prometheus",
  Alertmanager: "prometheus-alertmanager",
} as const;

const flatlineEntry = fileURLToPath(new URL("../../bin/flatline.js", import.meta.url));

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Answers 200 when it works. */
  readonly readyUrl: string;
}

/** What watches the platform: one process or several. */
export interface Monitor {
  /** All processes together. */
  usage(): ReturnType<typeof usageOf>;
  /** Ends all processes by SIGKILL at once, and starts them again. */
  restart(): Promise<void>;
}

/** Starts the programs; resolves when all of them are ready. */
export async function startMonitor(programs: readonly Program[], releases: AsyncDisposableStack): Promise<Monitor> {
  let children: readonly ReturnType<typeof startCommand>[] = [];
  const start = async (): Promise<void> => {
    children = programs.map(({ command, args, cwd }) => startCommand(command, args, cwd));
    await Promise.all(programs.map(({ readyUrl }) => eventually(async () => (await fetch(readyUrl)).ok)));
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    await Promise.all(children.map((child) => child.stop(signal)));
  };
  releases.defer(() => stop("SIGTERM"));
  await start();
  return {
    usage: () => {
      if (children.some((child) => child.hasEnded())) throw new Error("a program ended by itself");
      const each = children.map(({ pid }) => usageOf(pid));
      return {
        cpuSeconds: each.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
        residentBytes: each.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
      };
    },
    restart: async () => {
      await stop("SIGKILL");
      await start();
    },
  };
}

/** Writes flatline's configuration and returns its program. It notifies the receiver at `/flatline`. */
export async function wireFlatline(wiring: Wiring): Promise<readonly Program[]> {
  const { folder, platformUrl, receiverUrl, slugs, intervalSeconds, groupWaitSeconds, groupIntervalSeconds } = wiring;
  const port = await freePort();
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "flatline.yaml"),
    `source: { type: remote, baseUrl: "${platformUrl}/api/v2", apiKey: flatline }
organizations: [${slugs.join(", ")}]
defaults: { schedule: "*/${intervalSeconds} * * * * *" }
alerting: { groupWait: ${groupWaitSeconds}s, groupInterval: ${groupIntervalSeconds}s }
receivers: [{ name: ops, type: webhook, url: "${receiverUrl}/flatline" }]
server: { listen: "127.0.0.1:${port}" }
storage: { path: flatline.db }
log: { level: error }
`,
  );
  const args = [flatlineEntry, "run", "-c", "flatline.yaml"];
  return [{ command: process.execPath, args, cwd: folder, readyUrl: `http://127.0.0.1:${port}/-/ready` }];
}

/** Writes the configurations of blackbox_exporter, Prometheus and Alertmanager; the last notifies `/peer`. */
export async function wirePeer(wiring: Wiring): Promise<readonly Program[]> {
  const { folder } = wiring;
  const [exporter, prometheus, alertmanager] = [await freePort(), await freePort(), await freePort()];
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "blackbox.yml"), blackboxModules(wiring.slugs));
  await writeFile(join(folder, "prometheus.yml"), prometheusConfig(wiring, exporter, alertmanager));
  await writeFile(join(folder, "rules.yml"), alertRules);
  await writeFile(join(folder, "alertmanager.yml"), alertmanagerConfig(wiring));
  const program = (command: string, port: number, path: string, args: readonly string[]): Program => ({
    command,
    args: [...args, `--web.listen-address=127.0.0.1:${port}`, "--log.level=error"],
    cwd: folder,
    readyUrl: `http://127.0.0.1:${port}${path}`,
  });
  return [
    program(peerPrograms.blackbox_exporter, exporter, "/-/healthy", ["--config.file=blackbox.yml"]),
    program(peerPrograms.Prometheus, prometheus, "/-/ready", [
      "--config.file=prometheus.yml",
      "--storage.tsdb.path=prometheus",
      // Its default, 1 min, where the group interval is one.
      `--rules.alert.resend-delay=${wiring.groupIntervalSeconds}s`,
    ]),
    program(peerPrograms.Alertmanager, alertmanager, "/-/ready", [
      "--config.file=alertmanager.yml",
      "--storage.path=alertmanager",
      // One Alertmanager, which looks for no others.
      "--cluster.listen-address=",
    ]),
  ];
}

// A module has one body and one key, so that each organization needs its own; and says yes or no only, so that `warn`
// beside `fail` needs a second one.
const patterns = { "not-ok": String.raw`"ok":\s*false`, fail: String.raw`"severity":\s*"fail"` };

function blackboxModules(slugs: readonly string[]): string {
  const modules = slugs.flatMap((slug) =>
    Object.entries(patterns).map(
      ([name, pattern]) => `  ${slug}-${name}:
    prober: http
    timeout: 5s
    http:
      method: POST
      headers: { Content-Type: application/json, X-API-KEY: peer }
      body: '{"slug":"${slug}"}'
      fail_if_body_matches_regexp: ['${pattern}']
      preferred_ip_protocol: ip4
`,
    ),
  );
  return `modules:\n${modules.join("")}`;
}

function prometheusConfig(wiring: Wiring, exporterPort: number, alertmanagerPort: number): string {
  const { platformUrl, slugs, intervalSeconds } = wiring;
  const targets = slugs.flatMap((slug) =>
    Object.keys(patterns).map(
      (matches) =>
        `      - { targets: ["${platformUrl}${healthcheckPath}"], labels: { slug: ${slug}, matches: ${matches}, __param_module: ${slug}-${matches} } }\n`,
    ),
  );
  return `global: { scrape_interval: ${intervalSeconds}s, scrape_timeout: ${intervalSeconds}s, evaluation_interval: ${intervalSeconds}s }
rule_files: [rules.yml]
alerting:
  alertmanagers:
    - static_configs: [{ targets: ["127.0.0.1:${alertmanagerPort}"] }]
scrape_configs:
  - job_name: healthcheck
    metrics_path: /probe
    static_configs:
${targets.join("")}    relabel_configs:
      - { source_labels: [__address__], target_label: __param_target }
      - { source_labels: [__param_target], target_label: instance }
      - { target_label: __address__, replacement: "127.0.0.1:${exporterPort}" }
`;
}

const alertRules = `groups:
  - name: healthcheck
    rules:
      - alert: DeadAssetSpike
        expr: probe_failed_due_to_regex{matches="fail"} == 1
        labels: { severity: fail }
        annotations:
          summary: 'The liveness checker of {{ $labels.slug }} may be broken: the dead-asset-spike healthcheck says fail'
      - alert: DeadAssetSpike
        expr: probe_failed_due_to_regex{matches="not-ok"} == 1 unless on (slug) probe_failed_due_to_regex{matches="fail"} == 1
        labels: { severity: warn }
        annotations:
          summary: 'The liveness checker of {{ $labels.slug }} may be broken: the dead-asset-spike healthcheck says warn'
      - alert: HealthcheckUnavailable
        expr: probe_success == 0 and probe_failed_due_to_regex == 0
        for: 1m
        labels: { severity: unknown }
        annotations:
          summary: 'The dead-asset-spike healthcheck of {{ $labels.slug }} gives no result'
`;

function alertmanagerConfig({ receiverUrl, groupWaitSeconds, groupIntervalSeconds }: Wiring): string {
  return `route:
  receiver: peer
  group_by: [alertname]
  group_wait: ${groupWaitSeconds}s
  group_interval: ${groupIntervalSeconds}s
  repeat_interval: 4h
receivers:
  - { name: peer, webhook_configs: [{ url: "${receiverUrl}/peer" }] }
`;
}
