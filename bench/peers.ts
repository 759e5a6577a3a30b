// What an operator gets from flatline, and from what is usually wired up in its place: blackbox_exporter, Prometheus
// and Alertmanager, on the same recorded day. node bench/peers.ts [--quick]
import { debianTool } from "../test/support/debian-tool.ts";
import { busyMachine, where } from "./harness/measure.ts";
import { peersTable } from "./peers/report.ts";
import { playDay, playOutage, startWorld, type Pace } from "./peers/scenario.ts";
import { peerPrograms } from "./peers/wiring.ts";
import { buildProgram, versionOf } from "./processes.ts";

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
};
const isQuick = process.argv.includes("--quick");
const pace = isQuick ? quick : full;

const missing = Object.values(peerPrograms).filter((program) => debianTool(program, program).isMissing);
if (missing.length > 0) {
  // With RUNLEVEL=1 Debian does not start their services.
  console.error(`peers: skipped; to install what is missing: RUNLEVEL=1 apt-get install ${missing.join(" ")}`);
  process.exit();
}
buildProgram();
console.error("the day, and beside it the day with a receiver that is down, for about a quarter of an hour");
const busyBefore = await busyMachine();
await using releases = new AsyncDisposableStack();
// Two worlds that share nothing but the machine, and do little: one after the other would take twice as long.
const dayWorld = await startWorld(pace, releases);
const outageWorld = await startWorld(pace, releases);
const [day, outage] = await Promise.all([playDay(dayWorld, pace), playOutage(outageWorld, pace)]);
const noVerdict = isQuick ? "quick" : (busyBefore ?? (await busyMachine()));
const peers = Object.entries(peerPrograms).map(([name, program]) => `${name} ${versionOf(program)}`);
const columns = [
  { ...day[0], ...outage[0] },
  { ...day[1], ...outage[1] },
] as const;
console.log(`\n${peersTable(["flatline", peers.join(", ")], columns, noVerdict === null ? null : "no verdict")}\n`);
console.log(where());
