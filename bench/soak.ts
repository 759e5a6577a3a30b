// One daemon for long: node bench/soak.ts [--minutes 10] [--organizations 1000]. Its clock is virtual and moves on as soon as
// the work of a minute is done, so that real minutes at full speed are virtual hours. Says whether memory, file handles and
// the store's file stay as they are, and writes bench/results/soak.json when it ran for a minute at least.
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { trendOf, type Trend } from "./regression.ts";
import { startSoakWorld } from "./soak-world.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, organizations: { type: "string", default: "1000" } },
});
const minutes = Number(values.minutes);
const organizations = Number(values.organizations);
const leastVirtualHours = minutes >= 1 ? 1 : 0;
const hoursARound = 5 / 60;
// From here on events are let go as fast as they come (26 h, and the ten minutes between two rounds of housekeeping).
const boundedFromHours = 27;
// Until code is compiled, caches are filled and retention has something to let go.
const warmUpShare = 0.4;
const samplesWanted = 240;
const mib = 2 ** 20;

interface Sample {
  readonly atHours: number;
  readonly virtualHours: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly fileHandles: number;
  readonly storeBytes: number;
  readonly checks: number;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const world = await startSoakWorld(organizations);
const startedMs = performance.now();
const elapsedMinutes = (): number => (performance.now() - startedMs) / 60_000;
const samples: Sample[] = [];
let virtualHours = 0;
try {
  while (elapsedMinutes() < minutes || virtualHours < leastVirtualHours) {
    await world.liveOn();
    virtualHours += hoursARound;
    if (elapsedMinutes() >= (samples.length * minutes) / samplesWanted) samples.push(sample());
  }
} finally {
  await world.close();
}
report();

function sample(): Sample {
  const { rss } = process.memoryUsage();
  // What is left is in use: else the trend would be drowned by garbage.
  collectGarbage();
  const { heapUsed } = process.memoryUsage();
  return {
    atHours: elapsedMinutes() / 60,
    virtualHours,
    residentBytes: rss,
    heapBytes: heapUsed,
    fileHandles: readdirSync("/proc/self/fd").length,
    storeBytes: ["", "-wal"].reduce((sum, end) => sum + sizeOf(join(world.folder, `flatline.db${end}`)), 0),
    checks: world.checks(),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function report(): void {
  const settled = samples.slice(Math.floor(samples.length * warmUpShare));
  const over = (of: (sample: Sample) => number): Trend =>
    trendOf(settled.map((one) => ({ x: one.atHours, y: of(one) })));
  const resident = over(({ residentBytes }) => residentBytes / mib);
  const heap = over(({ heapBytes }) => heapBytes / mib);
  const handles = over(({ fileHandles }) => fileHandles);
  const bounded = samples.filter(({ virtualHours }) => virtualHours >= boundedFromHours);
  const store = trendOf(bounded.map(({ virtualHours, storeBytes }) => ({ x: virtualHours, y: storeBytes / mib })));
  const realMinutes = elapsedMinutes();
  const result = {
    name: "soak",
    measuredAt: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
      kernel: release(),
    },
    versions: { node: process.versions.node },
    organizations,
    realMinutes: round(realMinutes),
    virtualHours: round(virtualHours),
    checks: world.checks(),
    checksPerSecond: Math.round(world.checks() / (realMinutes * 60)),
    notifications: world.notifications(),
    complaints: Object.fromEntries(world.complaints()),
    residentMiB: { last: mibOf(settled.at(-1)?.residentBytes), slopePerHour: rounded(resident) },
    heapMiB: { last: mibOf(settled.at(-1)?.heapBytes), slopePerHour: rounded(heap) },
    fileHandles: { last: settled.at(-1)?.fileHandles ?? 0, slopePerHour: rounded(handles) },
    storeMiB: {
      last: mibOf(settled.at(-1)?.storeBytes),
      // Nobody knows before retention has let something go.
      slopePerVirtualHour: bounded.length < 3 ? null : rounded(store),
    },
    samples,
  };
  const { residentMiB, heapMiB, fileHandles, storeMiB } = result;
  console.log(
    `${organizations} organizations, ${result.realMinutes} real minutes, ${result.virtualHours} virtual hours`,
  );
  console.log(
    `checks         ${result.checks} (${result.checksPerSecond} a second), ${result.notifications} notifications`,
  );
  console.log(`resident       ${residentMiB.last} MiB, ${slope(residentMiB.slopePerHour)} MiB an hour`);
  console.log(`heap in use    ${heapMiB.last} MiB, ${slope(heapMiB.slopePerHour)} MiB an hour`);
  console.log(`file handles   ${fileHandles.last}, ${slope(fileHandles.slopePerHour)} an hour`);
  console.log(`store          ${storeMiB.last} MiB, ${slope(storeMiB.slopePerVirtualHour)} MiB a virtual hour`);
  console.log(`complaints     ${JSON.stringify(result.complaints)}`);
  if (minutes < 1) return;
  const folder = new URL("results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL("soak.json", folder), `${JSON.stringify(result, null, 2)}\n`);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function mibOf(bytes = 0): number {
  return Math.round(bytes / mib);
}

function rounded({ slope, standardError }: Trend): Trend {
  return { slope: round(slope), standardError: round(standardError) };
}

function slope(trend: Trend | null): string {
  if (trend === null) return `not known before ${boundedFromHours} virtual hours, in`;
  const { slope, standardError } = trend;
  return `${slope >= 0 ? "+" : ""}${slope} ± ${standardError}`;
}
