import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "./free-port.ts";
import { debianTool } from "./debian-tool.ts";
import { eventually } from "./program/program.ts";

/** Debian's Prometheus, when it is installed. */
export const prometheusTool = debianTool("prometheus", "prometheus");

/** A series of an answer; `value` is the last one. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A real Prometheus that scrapes each second, and evaluates its rules each second. */
export interface Prometheus extends AsyncDisposable {
  /** Evaluates now. Rejects with what Prometheus says of the expression. */
  query(expr: string): Promise<Sample[]>;
  /** As a panel asks for it: the last half minute, by steps of a second. */
  queryRange(expr: string): Promise<Sample[]>;
  labelValues(label: string, match: string): Promise<string[]>;
  /** Rules by name, with their health and what they found. */
  rules(): Promise<readonly PrometheusRule[]>;
}

export interface PrometheusRule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly state?: string;
}

interface ApiAnswer {
  readonly status: string;
  readonly error?: string;
  readonly warnings?: readonly string[];
  readonly data: unknown;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

const rangeSeconds = 30;

/**
 * Starts one on a port of its own; `jobs` are addresses (`host:port`) by the name of their job, or what a scrape
 * configuration has beside its name. Its own alerts go to the Alertmanagers at these addresses.
 */
export async function startPrometheus(
  jobs: Readonly<Record<string, string | object>>,
  ruleFiles: readonly string[] = [],
  alertmanagers: readonly string[] = [],
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-prometheus-"));
  const port = await freePort();
  const config = {
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: ruleFiles,
    alerting: { alertmanagers: [{ static_configs: [{ targets: alertmanagers }] }] },
    scrape_configs: Object.entries(jobs).map(([job, target]) => ({
      job_name: job,
      ...(typeof target === "string" ? { static_configs: [{ targets: [target] }] } : target),
    })),
  };
  // JSON is YAML.
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config));
  const args = [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--log.level=warn",
  ];
  const child = spawn("prometheus", args, { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));

  async function api(path: string, parameters: Readonly<Record<string, string>>): Promise<ApiAnswer> {
    const url = `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    const answer = (await response.json()) as ApiAnswer;
    if (answer.status !== "success") throw new Error(answer.error);
    if (answer.warnings !== undefined) throw new Error(answer.warnings.join("; "));
    return answer;
  }

  const samplesOf = ({ data }: ApiAnswer): Sample[] =>
    (data as { readonly result: readonly Series[] }).result.map(({ metric, value, values = [] }) => ({
      labels: metric,
      value: Number((value ?? values.findLast(([, text]) => text !== "NaN") ?? [0, "NaN"])[1]),
    }));

  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await closed;
    await rm(folder, { recursive: true, force: true });
  };

  try {
    await eventually(async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok);
  } catch (error) {
    await stop();
    throw new Error(`Prometheus does not start: ${stderr}`, { cause: error });
  }

  return {
    query: async (query) => samplesOf(await api("query", { query })),
    queryRange: async (query) => {
      const end = Math.floor(Date.now() / 1000);
      return samplesOf(
        await api("query_range", { query, start: String(end - rangeSeconds), end: String(end), step: "1" }),
      );
    },
    labelValues: async (label, match) => (await api(`label/${label}/values`, { "match[]": match })).data as string[],
    rules: async () => {
      const { data } = await api("rules", {});
      return (data as { readonly groups: readonly { readonly rules: readonly PrometheusRule[] }[] }).groups.flatMap(
        (group) => group.rules,
      );
    },
    [Symbol.asyncDispose]: stop,
  };
}
