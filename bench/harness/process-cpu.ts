import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

let ticks: number | null = null;

/** Clock ticks of /proc a second; 100 nearly everywhere. */
function ticksPerSecond(): number {
  ticks ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  return ticks;
}

/** User and system time in seconds that a process and its waited-for children took so far; whole ticks (10 ms) only. Linux. */
export function cpuSecondsOf(pid: number): number {
  const fields = statOf(pid);
  // utime, stime, cutime, cstime: 14th to 17th, of which `fields` has left out the first two.
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) / ticksPerSecond();
}

/** The same of a process and all that came from it and lives: a database with its workers, a browser. */
export function cpuSecondsOfTree(pid: number): number {
  return treeOf(pid).reduce((sum, one) => sum + (cpuSecondsIfAlive(one) ?? 0), 0);
}

/** Resident memory in bytes. Linux. */
export function residentBytesOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) * 1024;
}

/** User and system time in seconds of this process so far, all its threads. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function treeOf(pid: number): number[] {
  const childrenOf = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    const one = Number(entry);
    if (!Number.isInteger(one)) continue;
    const parent = parentOf(one);
    if (parent !== null) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), one]);
  }
  const tree = [pid];
  for (const one of tree) tree.push(...(childrenOf.get(one) ?? []));
  return tree;
}

function parentOf(pid: number): number | null {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return null;
  }
}

function cpuSecondsIfAlive(pid: number): number | null {
  try {
    return cpuSecondsOf(pid);
  } catch {
    return null;
  }
}

/** From the state on: the name before it is in brackets and may hold blanks. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
