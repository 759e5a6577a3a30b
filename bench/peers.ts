// flatline beside blackbox_exporter, Prometheus and Alertmanager: node bench/run.ts peers [--quick]
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";

import { createSystemClock } from "../src/base/time.ts";
import type { Benchmark } from "./harness/benchmark.ts";
import { describeMachine, describeVersions } from "./harness/harness.ts";
import { findProgram, missingExitCode } from "./harness/installed.ts";
import { measureIdle } from "./peers/idle.ts";
import { peersTable, sideReport, type Pace, type PeersResult } from "./peers/report.ts";
import { playDay, playOutage, startWorld } from "./peers/scenario.ts";
import { peerPrograms } from "./peers/wiring.ts";

const full: Pace = {
  intervalSeconds: 5,
  // flatline's defaults; Alertmanager's own are 30 s and 5 min.
  groupWaitSeconds: 10,
  groupIntervalSeconds: 60,
  hourTakesMs: 5_000,
  warmUpMs: 20_000,
  settleMs: 75_000,
  restartMs: 100_000,
  outageMs: 600_000,
  lateMs: 330_000,
  idleMs: 180_000,
};
const quick: Pace = {
  intervalSeconds: 1,
  groupWaitSeconds: 1,
  groupIntervalSeconds: 5,
  hourTakesMs: 1_000,
  // Prometheus looks for its targets and Alertmanagers five seconds after its start.
  warmUpMs: 8_000,
  settleMs: 15_000,
  restartMs: 25_000,
  outageMs: 60_000,
  lateMs: 60_000,
  idleMs: 30_000,
};

/** What an operator gets from flatline, and from what is usually wired up in its place. */
export const benchmark: Benchmark = {
  name: "peers",
  title: "The same broken checker on the same recorded day: first message, messages, outage, restart, cost",
  metrics: [],
  sides: [],
  goals: [],
  run: async (words, options) => {
    if (words.length > 0) throw new Error("usage: bench peers [--quick]");
    const missing = Object.values(peerPrograms).filter((program) => findProgram(program) === null);
    if (missing.length > 0) {
      console.error(
        `bench:peers needs programs that are not installed: RUNLEVEL=1 apt-get install ${missing.join(" ")}`,
      );
      console.error("(With RUNLEVEL=1 Debian does not start their services.)");
      process.exitCode = missingExitCode;
      return;
    }
    const result = await measurePeers(options.quick ? quick : full);
    console.log(`\n${peersTable(result)}\n`);
    if (options.quick) return;
    writeFileSync(new URL("results/peers.json", import.meta.url), `${JSON.stringify(result, null, 2)}\n`);
  },
};

async function measurePeers(pace: Pace): Promise<PeersResult> {
  console.error("peers: every program without anything to do");
  const idle = await measureIdle(pace.idleMs);
  console.error("peers: the day, and beside it the day with a receiver that is down, for about a quarter of an hour");
  console.error("peers: Alertmanager writes what its receiver refused below");
  // Two worlds that share nothing but the machine, and do little: one after the other would take twice as long.
  await using dayWorld = await startWorld(pace);
  await using outageWorld = await startWorld(pace);
  const [day, outage] = await Promise.all([playDay(dayWorld, pace), playOutage(outageWorld, pace)]);
  const versions = describeVersions();
  const peers = Object.entries(peerPrograms).map(([name, program]) => [name, versionOf(program)] as const);
  return {
    name: benchmark.name,
    measuredAt: new Date(createSystemClock().nowMs()).toISOString(),
    machine: describeMachine(),
    versions,
    pace,
    flatline: sideReport({ flatline: versions.flatline }, day.flatline, outage.flatline, idle.flatline),
    peer: sideReport(Object.fromEntries(peers), day.peer, outage.peer, idle.peer),
  };
}

/** Returns what the program says on `--version`, on either stream: "…, version 2.42.0+ds (branch: …". */
function versionOf(program: string): string {
  const { stdout, stderr } = spawnSync(findProgram(program) ?? program, ["--version"], { encoding: "utf8" });
  return /version ([^\s,]+)/.exec(`${stdout}${stderr}`)?.[1] ?? "?";
}
