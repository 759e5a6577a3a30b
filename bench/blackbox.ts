import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "undici";

import type { Side } from "./harness/benchmark.ts";
import { startChild, startScript } from "./harness/child.ts";
import { freePort } from "../test/support/free-port.ts";
import { sleepMs } from "./daemon.ts";
import { findProgram, missingProgram } from "./harness/installed.ts";
import { cpuSecondsOf } from "./harness/process-cpu.ts";

/** Whether the upstream keeps its connections, or ends each after its answer. */
export type Connections = "keep-alive" | "close";

/** Checks under way at once, on both sides. */
export const concurrency = 100;
const durationMs = 5_000;
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

/** The exporter, asked by this process as Prometheus would: over connections that it keeps, `concurrency` at once. */
export function blackbox(connections: Connections): Side {
  return {
    name: `blackbox_exporter, ${connections}`,
    kind: "peer",
    version: () => /version (\S+)/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[1] ?? "?",
    missing: () => missingProgram(program, program),
    start: async ({ quick }) => {
      const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
      await writeFile(join(folder, "blackbox.yml"), modules);
      const upstream = startScript("harness/upstream.ts", [connections]);
      const target = `http://127.0.0.1:${await upstream.line()}/api/v2/healthchecks/assets/dead-asset-spike`;
      const port = await freePort();
      const args = [
        `--config.file=${folder}/blackbox.yml`,
        `--web.listen-address=127.0.0.1:${port}`,
        "--log.level=error",
      ];
      const exporter = startChild(findProgram(program) ?? program, args);
      const pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency, pipelining: 1 });
      const path = `/probe?module=spike&target=${encodeURIComponent(target)}`;
      const probe = async (): Promise<void> => {
        const { body } = await pool.request({ method: "GET", path });
        if (!(await body.text()).includes("\nprobe_success 1\n")) throw new Error("a probe failed");
      };
      await untilAnswered(probe);
      return {
        measure: async () => {
          await probeFor(probe, quick ? 200 : durationMs / 2);
          const before = cpuSecondsOf(exporter.pid);
          const probes = await probeFor(probe, quick ? 500 : durationMs);
          return { checks: probes / (cpuSecondsOf(exporter.pid) - before) };
        },
        stop: async () => {
          await pool.destroy();
          await exporter.stop();
          await upstream.stop();
          await rm(folder, { recursive: true, force: true });
        },
      };
    },
  };
}

async function probeFor(probe: () => Promise<void>, periodMs: number): Promise<number> {
  const endMs = performance.now() + periodMs;
  let probes = 0;
  const worker = async (): Promise<void> => {
    for (; performance.now() < endMs; probes++) await probe();
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return probes;
}

async function untilAnswered(probe: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await probe();
    } catch (error) {
      if (attempt === 100) throw error;
      await sleepMs(50);
    }
  }
}
