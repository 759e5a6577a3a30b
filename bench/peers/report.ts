import { secondMs } from "../../src/base/time.ts";
import type { BenchmarkResult } from "../harness/benchmark.ts";
import { formatNumber } from "../harness/harness.ts";
import { formatRatio } from "../harness/table.ts";
import type { Message, SentAlert } from "./messages.ts";

/** How fast the day passes, and how both are configured. */
export interface Pace {
  readonly intervalSeconds: number;
  readonly groupWaitSeconds: number;
  readonly groupIntervalSeconds: number;
  /** How long a recorded hour takes. */
  readonly hourTakesMs: number;
  readonly warmUpMs: number;
  /** Longer than the group interval: afterwards nothing is still to be sent. */
  readonly settleMs: number;
  /** Longer than what Prometheus needs after a start until Alertmanager has the alerts, with the group wait: 72 s. */
  readonly restartMs: number;
  readonly outageMs: number;
  /** How long a message may take once the receiver is back: flatline's longest pause between two attempts, and some. */
  readonly lateMs: number;
  /** How long the processor time of processes that do nothing is measured. */
  readonly idleMs: number;
}

/** What one of both did on the day, with the receiver up. */
export interface DayResult {
  readonly brokenAtMs: number;
  readonly messages: readonly Message[];
  /** From each break to the first message about it; null: none. */
  readonly firstSeconds: readonly (number | null)[];
  /** Healthchecks that it asked for. */
  readonly requests: number;
  readonly cpuSecondsPerMinute: number;
  readonly residentBytes: number;
  /** Messages after `kill -9` and a start, though nothing had changed. */
  readonly repeatedAfterKill: number;
  /** The same after SIGTERM. */
  readonly repeatedAfterStop: number;
}

/** What one of both did about a receiver that was down; seconds are from its return on, null: never. */
export interface OutageResult {
  readonly backAtMs: number;
  readonly messages: readonly Message[];
  readonly stillFiringSeconds: number | null;
  readonly endedFiringSeconds: number | null;
  readonly endedResolvedSeconds: number | null;
}

/** A message in bench/results/peers.json, at its time after the break, or after the receiver's return. */
interface LoggedMessage {
  readonly afterSeconds: number;
  readonly alerts: readonly SentAlert[];
  readonly text: string;
}

/** One column of the table. */
export interface SideReport {
  /** The version of each program. */
  readonly programs: Readonly<Record<string, string>>;
  readonly day: Omit<DayResult, "brokenAtMs" | "messages"> & { readonly messages: readonly LoggedMessage[] };
  readonly outage: Omit<OutageResult, "backAtMs" | "messages"> & { readonly messages: readonly LoggedMessage[] };
  /** Of each program, processor seconds per minute while it has nothing to do. */
  readonly idle: readonly number[];
}

/** What bench/results/peers.json holds. */
export interface PeersResult extends Pick<BenchmarkResult, "measuredAt" | "machine" | "versions"> {
  readonly name: string;
  readonly pace: Pace;
  readonly flatline: SideReport;
  readonly peer: SideReport;
}

const mebibyte = 2 ** 20;

/** Returns one column from what was measured. */
export function sideReport(
  programs: SideReport["programs"],
  { brokenAtMs, messages, ...day }: DayResult,
  { backAtMs, messages: later, ...outage }: OutageResult,
  idle: readonly number[],
): SideReport {
  const log = (fromMs: number, all: readonly Message[]): LoggedMessage[] =>
    all.map(({ atMs, alerts, text }) => ({ afterSeconds: (atMs - fromMs) / secondMs, alerts, text }));
  return {
    programs,
    day: { ...day, messages: log(brokenAtMs, messages) },
    outage: { ...outage, messages: log(backAtMs, later) },
    idle,
  };
}

/** Returns the table of both sides. */
export function peersTable({ flatline, peer, pace }: PeersResult): string {
  const row = (title: string, cell: (side: SideReport) => string): string =>
    `| ${[title, cell(flatline), cell(peer)].join(" | ")} |`;
  const ratio = (of: (side: SideReport) => number): string => formatRatio(of(peer) / of(flatline));
  const minutes = `${formatNumber(pace.outageMs / 60_000)} min`;
  return [
    row("", titleOf),
    "| --- | --- | --- |",
    row("first message after the break, twice", ({ day }) => day.firstSeconds.map(seconds).join(", ")),
    row("what it says", ({ day }) =>
      (day.messages[0]?.text ?? "nothing").replaceAll("\n", "<br>").replaceAll("|", "\\|"),
    ),
    row("messages, from the break to the end", ({ day }) => String(day.messages.length)),
    row(`receiver down for ${minutes}: an alert that still fires when it is back`, ({ outage }) =>
      later(outage.stillFiringSeconds),
    ),
    row("… an alert that began and ended meanwhile", ended),
    row("repeated after `kill -9` and a start", ({ day }) => messages(day.repeatedAfterKill)),
    row("repeated after an ordinary restart", ({ day }) => messages(day.repeatedAfterStop)),
    row("processes", ({ programs }) => String(Object.keys(programs).length)),
    row(
      `processor time (the peer's ÷ flatline's: ${ratio(({ day }) => day.cpuSecondsPerMinute)})`,
      ({ day }) => `${formatNumber(day.cpuSecondsPerMinute)} s per minute`,
    ),
    row("… of each process that has nothing to do", ({ idle }) => `${idle.map(formatNumber).join(", ")} s per minute`),
    row(
      `resident memory (${ratio(({ day }) => day.residentBytes)})`,
      ({ day }) => `${formatNumber(day.residentBytes / mebibyte)} MiB`,
    ),
  ].join("\n");
}

function titleOf({ programs }: SideReport): string {
  return Object.entries(programs)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
}

function ended({ outage: { endedFiringSeconds, endedResolvedSeconds } }: SideReport): string {
  if (endedFiringSeconds === null && endedResolvedSeconds === null) return "lost";
  if (endedFiringSeconds === null) return `only as resolved, ${later(endedResolvedSeconds)}`;
  if (endedResolvedSeconds === null) return `only as firing, ${later(endedFiringSeconds)}`;
  return `firing and resolved, ${later(endedResolvedSeconds)}`;
}

function later(afterSeconds: number | null): string {
  return afterSeconds === null ? "lost" : `${seconds(afterSeconds)} later`;
}

function seconds(value: number | null): string {
  return value === null ? "never" : `${formatNumber(value)} s`;
}

function messages(count: number): string {
  return count === 0 ? "nothing" : count === 1 ? "1 message" : `${count} messages`;
}
