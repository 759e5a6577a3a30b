import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Pool } from "undici";

import { debianTool } from "../../test/support/debian-tool.ts";
import { freePort } from "../../test/support/free-port.ts";
import { eventually } from "../../test/support/program/program.ts";
import type { Side } from "../harness/benchmark.ts";
import { startCommand, startScript, tempFolder, usageOf } from "../processes.ts";

/** Checks under way at once, on both sides. */
export const concurrency = 100;
const program = "prometheus-blackbox-exporter";

// The same request, and a result that is fit to be trusted by what a regular expression can see of it.
const modules = `modules:
  spike:
    prober: http
    timeout: 5s
    http:
      method: POST
      headers: { Content-Type: application/json, Accept: application/json, X-API-KEY: benchmark-key }
      body: '{"slug":"org-1","windowHours":24,"baselineDays":7,"warnMultiplier":2,"failMultiplier":4,"minSpikeCount":10}'
      fail_if_body_not_matches_regexp: ['"severity":"(ok|warn)"']
      preferred_ip_protocol: ip4
`;

/** Starts a platform that answers ok; returns flatline's source that asks it, and its address. */
export async function startUpstream(releases: AsyncDisposableStack) {
  const { line: port } = await startScript("remote/upstream.ts", [], releases);
  const baseUrl = `http://127.0.0.1:${port}/api/v2`;
  const source = `source: { type: remote, baseUrl: "${baseUrl}", apiKey: benchmark-key, concurrency: ${concurrency} }`;
  return { baseUrl, source };
}

/** The exporter, asked by this process as Prometheus would: over connections that it keeps, `concurrency` at once. */
export const blackbox: Side = {
  name: "blackbox_exporter",
  missing: () => (debianTool(program, program).isMissing ? `apt-get install ${program}` : null),
  start: async (quick, releases) => {
    const folder = await tempFolder(releases);
    await writeFile(join(folder, "blackbox.yml"), modules);
    const { baseUrl } = await startUpstream(releases);
    const address = `127.0.0.1:${await freePort()}`;
    const args = ["--config.file=blackbox.yml", `--web.listen-address=${address}`, "--log.level=error"];
    const exporter = startCommand(program, args, folder);
    releases.defer(() => exporter.stop());
    const pool = new Pool(`http://${address}`, { connections: concurrency, pipelining: 1 });
    releases.defer(() => pool.destroy());
    const path = `/probe?module=spike&target=${encodeURIComponent(`${baseUrl}/healthchecks/assets/dead-asset-spike`)}`;
    const probe = async (): Promise<true> => {
      const { body } = await pool.request({ method: "GET", path });
      if (!(await body.text()).includes("\nprobe_success 1\n")) throw new Error("a probe failed");
      return true;
    };
    await eventually(probe);
    return async () => {
      await probeFor(probe, quick ? 200 : 2_500);
      const before = usageOf(exporter.pid).cpuSeconds;
      const probes = await probeFor(probe, quick ? 500 : 5_000);
      return { checks: probes / (usageOf(exporter.pid).cpuSeconds - before) };
    };
  },
};

async function probeFor(probe: () => Promise<unknown>, periodMs: number): Promise<number> {
  const endMs = performance.now() + periodMs;
  let probes = 0;
  const worker = async (): Promise<void> => {
    for (; performance.now() < endMs; probes++) await probe();
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return probes;
}
