// One daemon for long: node bench/soak.ts [--minutes 10] [--organizations 1000]. Its clock is virtual and moves on as soon as
// the work of a minute is done, so that real minutes at full speed are virtual hours. Says whether memory, file handles and
// the store's file stay as they are, and writes bench/results/soak.json when it ran as long as it has to be.
import { globSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { circumstances } from "./harness/measure.ts";
import { lowest, soakTable, verdictOf, type SoakLine, type SoakResult } from "./soak/report.ts";
import { startSoakWorld } from "./soak/world.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, organizations: { type: "string", default: "1000" } },
});
const minutes = Number(values.minutes);
const organizations = Number(values.organizations);
const fullMinutes = 10;
const isFull = minutes >= fullMinutes;
// A machine that others use gets fewer hours done in its minutes, and what is judged begins late.
const leastVirtualHours = isFull ? 100 : minutes >= 1 ? 1 : 0;
const mostMinutes = 3 * minutes;
const hoursARound = 5 / 60;
// After 26 h and some minutes events are let go as fast as they come. Until then the store grows, with it what is cached of it
// and the sums of its events in memory; and once more as long, until its pages, which were filled in order, are as full as they
// stay when rows go and come.
const settledFromHours = 54;
// Until code is compiled, and each arena of malloc has met the largest that its threads ask for.
const warmUpShare = 0.4;
const samplesWanted = 240;
const mib = 2 ** 20;
const hoursADay = 24;

interface Sample {
  readonly atHours: number;
  readonly virtualHours: number;
  readonly residentBytes: number;
  readonly privateBytes: number;
  readonly nativeBytes: number;
  readonly heapBytes: number;
  readonly fileHandles: number;
  readonly storeBytes: number;
  readonly checks: number;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const releases = new AsyncDisposableStack();
const world = await startSoakWorld(organizations, releases);
const startedMs = performance.now();
const elapsedMinutes = (): number => (performance.now() - startedMs) / 60_000;
const samples: Sample[] = [];
let virtualHours = 0;
while (elapsedMinutes() < minutes || (virtualHours < leastVirtualHours && elapsedMinutes() < mostMinutes)) {
  await world.liveOn();
  virtualHours += hoursARound;
  if (elapsedMinutes() >= (samples.length * minutes) / samplesWanted) samples.push(sample());
}
await releases.disposeAsync();
report();

function sample(): Sample {
  const { rss } = process.memoryUsage();
  // What is left is in use: else the trend would be drowned by garbage.
  collectGarbage();
  const { heapUsed } = process.memoryUsage();
  const own = privateBytes();
  return {
    atHours: elapsedMinutes() / 60,
    virtualHours,
    residentBytes: rss,
    privateBytes: own,
    // V8 keeps its young generation as large as it once was, or gives it back, as it likes: tens of megabytes up and down.
    nativeBytes: own - getHeapStatistics().total_physical_size,
    heapBytes: heapUsed,
    fileHandles: readdirSync("/proc/self/fd").length,
    storeBytes: globSync(join(world.folder, "flatline*.db*")).reduce((sum, file) => sum + sizeOf(file), 0),
    checks: world.checks(),
  };
}

/** Memory that is this process's own: heaps of V8, what malloc holds, SQLite's caches; not the program's file. Linux. */
function privateBytes(): number {
  const kib = /^Anonymous:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/smaps_rollup", "utf8"))?.[1];
  return Number(kib) * 1_024;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function report(): void {
  const settled = samples
    .slice(Math.floor(samples.length * warmUpShare))
    .filter(({ virtualHours }) => virtualHours >= settledFromHours);
  const line = (name: string, title: string, unit: string, of: (sample: Sample) => number): SoakLine => {
    const points = lowest(settled.map((one) => ({ x: one.virtualHours, y: of(one) })));
    const values = (settled.length > 0 ? settled : samples).map(of);
    return {
      name,
      title,
      unit,
      least: round(Math.min(...values)),
      most: round(Math.max(...values)),
      last: round(of(samples.at(-1) ?? sample())),
      ...verdictOf(points.map(({ x, y }) => ({ x: x / hoursADay, y }))),
    };
  };
  const realMinutes = elapsedMinutes();
  const result: SoakResult = {
    name: "soak",
    ...circumstances(),
    organizations,
    realMinutes: round(realMinutes),
    virtualHours: round(virtualHours),
    settledFromVirtualHours: round(settled[0]?.virtualHours ?? settledFromHours),
    checks: world.checks(),
    checksPerSecond: Math.round(world.checks() / (realMinutes * 60)),
    notifications: world.notifications(),
    complaints: Object.fromEntries(world.complaints()),
    lines: [
      line("native", "memory outside of V8's heap", "MiB", ({ nativeBytes }) => nativeBytes / mib),
      line("heap", "V8's heap in use", "MiB", ({ heapBytes }) => heapBytes / mib),
      line("private", "both, with V8's reserve", "MiB", ({ privateBytes }) => privateBytes / mib),
      line("resident", "resident", "MiB", ({ residentBytes }) => residentBytes / mib),
      line("handles", "file handles", "", ({ fileHandles }) => fileHandles),
      line("store", "the store with its log", "MiB", ({ storeBytes }) => storeBytes / mib),
    ],
    samples,
  };
  console.log(soakTable(result));
  if (!isFull) return;
  if (result.lines.some(({ verdict }) => verdict === "not known")) {
    console.log("too few virtual hours to judge it: nothing is stored");
    return;
  }
  writeFileSync(new URL("results/soak.json", import.meta.url), `${JSON.stringify(result, null, 2)}\n`);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
