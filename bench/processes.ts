import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createSystemClock } from "../src/base/time.ts";
import {
  eventually,
  readText,
  startDaemon as startBuilt,
  startProgram,
  stopProgram,
} from "../test/support/program/program.ts";
import type { Readings } from "./harness/benchmark.ts";

export interface DaemonOptions {
  /** flatline.yaml, but for `server.listen` and `storage`. */
  readonly config: string;
  /** Keys of `server` beside `listen`. */
  readonly server?: string;
  /** [the file `flatline.db` in its folder] */
  readonly storage?: string;
  /** Fills `flatline.db` in the folder before the start. */
  readonly prepare?: (folder: string) => Promise<void>;
}

export interface ChecksOptions extends DaemonOptions {
  readonly quick: boolean;
  /** [20 s] Until the hot functions are compiled, on a busy machine, too, and every organization has run once. */
  readonly warmUpMs?: number;
  readonly durationMs?: number;
  /** Of another process than the daemon: whose processor time counts. */
  readonly pid?: number;
}

const ticksASecond = 100;
const readyWithinMs = 60_000;
const clock = createSystemClock();

/** Builds the program, so that what is measured is what `src` says now. */
export function buildProgram(): void {
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL("../scripts/build.js", import.meta.url))]);
  if (status !== 0) throw new Error("the build failed");
}

/** A folder that is removed in the end. */
export async function tempFolder(releases: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
  releases.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The built program, `flatline run`, in a temporary folder of its own; resolves when it is ready. */
export async function startDaemon(
  { config, server = "", storage = "{ path: flatline.db }", prepare }: DaemonOptions,
  releases: AsyncDisposableStack,
): Promise<{ readonly pid: number; readonly url: string }> {
  const cwd = await tempFolder(releases);
  await writeFile(
    join(cwd, "flatline.yaml"),
    `${config}\nserver: { listen: "127.0.0.1:0", ${server} }\nstorage: ${storage}\n`,
  );
  await prepare?.(cwd);
  const daemon = await startBuilt(["-c", "flatline.yaml"], { cwd });
  releases.defer(async () => void (await stopProgram(daemon)));
  await eventually(async () => (await fetch(`${daemon.url}/-/ready`)).ok, readyWithinMs);
  return daemon;
}

/** One repetition with a new daemon: recorded checks a second of CPU time. A run without a result is an error. */
export async function measureChecks(options: ChecksOptions): Promise<Readings> {
  const { quick, warmUpMs = 20_000, durationMs = 5_000 } = options;
  await using releases = new AsyncDisposableStack();
  const daemon = await startDaemon(options, releases);
  const runs = async (): Promise<number> => {
    const text = await readText(`${daemon.url}/metrics`);
    const counts = [...text.matchAll(/^flatline_check_runs_total\{.*outcome="(\w+)"\} (\d+)$/gm)];
    if (counts.some(([, outcome, count]) => outcome === "error" && count !== "0"))
      throw new Error("runs gave no result");
    return counts.reduce((sum, [, , count]) => sum + Number(count), 0);
  };
  const pid = options.pid ?? daemon.pid;
  await clock.sleep(quick ? 1_000 : warmUpMs);
  const [runsBefore, before] = [await runs(), usageOf(pid).cpuSeconds];
  await clock.sleep(quick ? 3_000 : durationMs);
  const cpuSeconds = usageOf(pid).cpuSeconds - before;
  return { checks: ((await runs()) - runsBefore) / cpuSeconds };
}

/** Organizations due each second, all at once or spread: more than can be done, so that there is always work. */
export function everySecond(count: number, jitter = "0s"): string {
  const slugs = Array.from({ length: count }, (_, index) => `  - org-${index}`);
  return [`defaults: { schedule: "* * * * * *", jitter: ${jitter} }`, "organizations:", ...slugs].join("\n");
}

/** Starts a file of bench with Node.js; returns its first line on stdout when that is there. */
export async function startScript(
  name: string,
  args: readonly string[],
  releases: AsyncDisposableStack,
): Promise<{ readonly pid: number; readonly line: string }> {
  const entry = fileURLToPath(new URL(name, import.meta.url));
  const program = startProgram(args, { cwd: tmpdir(), entry });
  releases.defer(async () => void (await program.kill()));
  await eventually(() => program.stdout().includes("\n"));
  return { pid: program.pid, line: program.stdout().trim() };
}

/** Starts any other program; `stop` sends SIGTERM, and waits. What it says on stderr is said here. */
export function startCommand(command: string, args: readonly string[], cwd: string) {
  const child: ChildProcess = spawn(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "close");
  // A run that breaks off must leave nothing behind.
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    child.kill(signal);
    await ended;
    process.off("exit", kill);
  };
  return { pid: child.pid ?? -1, hasEnded: () => child.exitCode !== null || child.signalCode !== null, stop };
}

/** What `--version` says: "…, version 2.42.0+ds (branch: …", "psql (PostgreSQL) 15.18 (…". */
export function versionOf(command: string): string {
  const { stdout, stderr } = spawnSync(command, ["--version"], { encoding: "utf8" });
  return /(?:version v?|PostgreSQL\) )([^\s,]+)/.exec(`${stdout}${stderr}`)?.[1] ?? "?";
}

/** User and system time in ticks of 10 ms, and resident memory, of a process and its living descendants. Linux only. */
export function usageOf(pid: number): { readonly cpuSeconds: number; readonly residentBytes: number } {
  const stats = readdirSync("/proc").flatMap((entry) => {
    const one = Number(entry);
    const fields = Number.isInteger(one) ? statOf(one) : null;
    return fields === null ? [] : [{ pid: one, parent: Number(fields[1]), fields }];
  });
  const family = new Set([pid]);
  // A child's number may be below its parent's, once they begin anew: until none is found.
  for (let size = 0; size < family.size;) {
    size = family.size;
    for (const one of stats) if (family.has(one.parent)) family.add(one.pid);
  }
  const own = stats.filter((one) => family.has(one.pid));
  const sum = (places: readonly number[]): number =>
    own.reduce((total, { fields }) => total + places.reduce((part, place) => part + Number(fields[place]), 0), 0);
  // utime, stime, cutime, cstime: 14th to 17th, and rss: 24th, of which `fields` leaves out the first two.
  return { cpuSeconds: sum([11, 12, 13, 14]) / ticksASecond, residentBytes: sum([21]) * pageBytes };
}

const pageBytes = 4_096;

/** From the state on: the name before it is in brackets and may hold blanks. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}
