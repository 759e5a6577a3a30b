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
  /** The labels of the alerts that are active now. */
  active(): Promise<readonly Readonly<Record<string, string>>[]>;
}

/** Starts one on a port of its own that notifies a webhook, one group for each name and organization, at once. */
export async function startAlertmanager(webhookUrl: string): Promise<Alertmanager> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-alertmanager-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  // JSON is YAML.
  const config = {
    route: {
      receiver: "sink",
      group_by: ["alertname", "slug"],
      group_wait: "0s",
      group_interval: "1s",
      repeat_interval: "1h",
    },
    receivers: [{ name: "sink", webhook_configs: [{ url: webhookUrl, send_resolved: true }] }],
  };
  await writeFile(join(folder, "alertmanager.yml"), JSON.stringify(config));
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
    active: async () => {
      const response = await fetch(`${url}/api/v2/alerts?active=true`, { signal: AbortSignal.timeout(10_000) });
      return ((await response.json()) as { readonly labels: Readonly<Record<string, string>> }[]).map(
        ({ labels }) => labels,
      );
    },
    [Symbol.asyncDispose]: stop,
  };
}
