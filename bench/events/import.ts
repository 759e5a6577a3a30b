import { readFileSync } from "node:fs";

import { createSystemClock } from "../../src/base/time.ts";
import { importEvents } from "../../src/store/events/import.ts";
import { ownCpuSeconds } from "../harness/process-cpu.ts";

// A process of its own, so that its processor time and its memory are the import's alone. Arguments: a CSV file, a new database.
// The answer is one line of JSON.

/** What an import took. */
export interface ImportCost {
  readonly rows: number;
  readonly cpuSeconds: number;
  /** The most that was resident at once. */
  readonly peakMiB: number;
}

const [csv = "", databasePath = ""] = process.argv.slice(2);
const before = ownCpuSeconds();
const { stored } = await importEvents({
  location: { path: databasePath },
  files: [csv],
  rebaseToMs: null,
  again: false,
  signal: new AbortController().signal,
  clock: createSystemClock(),
});
const peakKiB = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
const cost: ImportCost = { rows: stored, cpuSeconds: ownCpuSeconds() - before, peakMiB: peakKiB / 1_024 };
console.log(JSON.stringify(cost));
