import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { debianTool } from "./debian-tool.ts";
import { freePort } from "./free-port.ts";
import { eventually } from "./program/program.ts";

/** Debian's Alertmanager, when it is installed. */
export const alertmanagerTool = debianTool("prometheus-alertmanager", "prometheus-alertmanager");

/** A real Alertmanager. */
export interface Alertmanager extends AsyncDisposable {
  readonly url: string;
  /** Posts alerts with these labels, as any of its clients. */
  post(labels: readonly Readonly<Record<string, string>>[]): Promise<void>;
  /** The labels of the alerts that fire now and are not silenced, by whether an inhibit rule mutes them. */
  firing(state: "active" | "inhibited"): Promise<readonly Readonly<Record<string, string>>[]>;
}

/** Returns a configuration that notifies a webhook, one group for each name and organization, at once. */
export function webhookConfig(webhookUrl: string): string {
  // JSON is YAML.
  return JSON.stringify({
    route: {
      receiver: "sink",
      group_by: ["alertname", "slug"],
      group_wait: "0s",
      group_interval: "1s",
      repeat_interval: "1h",
    },
    receivers: [{ name: "sink", webhook_configs: [{ url: webhookUrl, send_resolved: true }] }],
  });
}

/** Starts one with this configuration on a port of its own. */
export async function startAlertmanager(config: string): Promise<Alertmanager> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-alertmanager-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  await writeFile(join(folder, "alertmanager.yml"), config);
  const args = [
    `--config.file=${join(folder, "alertmanager.yml")}`,
    `--storage.path=${join(folder, "data")}`,
    `--web.listen-address=${new URL(url).host}`,
    "--cluster.listen-address=",
    "--log.level=warn",
  ];
  const child = spawn("prometheus-alertmanager", args, { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await closed;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually(async () => (await fetch(`${url}/-/ready`)).ok);
  } catch (error) {
    await stop();
    throw new Error(`Alertmanager does not start: ${stderr}`, { cause: error });
  }
  return {
    url,
    post: async (labels) => {
      const response = await fetch(`${url}/api/v2/alerts`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(labels.map((one) => ({ labels: one }))),
        signal: AbortSignal.timeout(10_000),
      });
      if (!response.ok) throw new Error(`Alertmanager refuses the alerts: ${await response.text()}`);
    },
    firing: async (state) => {
      const query = `active=${state === "active"}&inhibited=${state === "inhibited"}&silenced=false`;
      const response = await fetch(`${url}/api/v2/alerts?${query}`, { signal: AbortSignal.timeout(10_000) });
      return ((await response.json()) as { readonly labels: Readonly<Record<string, string>> }[]).map(
        ({ labels }) => labels,
      );
    },
    [Symbol.asyncDispose]: stop,
  };
}
