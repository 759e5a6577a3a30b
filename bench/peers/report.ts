import { secondMs } from "../../src/base/time.ts";
import type { Circumstances } from "../harness/benchmark.ts";
import { formatGoal, formatNumber, table, verdictOf } from "../harness/table.ts";
import type { Message } from "./messages.ts";

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
}

/** A message at its time after the break, or after the receiver's return. */
interface LoggedMessage extends Omit<Message, "atMs"> {
  readonly afterSeconds: number;
}

/** What one of both did on the day, with the receiver up. */
export interface DayResult {
  readonly messages: readonly LoggedMessage[];
  /** From each break to the first message about it; null: none. */
  readonly firstSeconds: readonly (number | null)[];
  readonly cpuSecondsPerMinute: number;
  readonly residentBytes: number;
  /** Messages after `kill -9` and a start, though nothing had changed. */
  readonly repeatedAfterKill: number;
  /** The same after SIGTERM. */
  readonly repeatedAfterStop: number;
}

/** What one of both did about a receiver that was down; seconds are from its return on, null: never. */
export interface OutageResult {
  readonly messages: readonly LoggedMessage[];
  readonly stillFiringSeconds: number | null;
  readonly endedFiringSeconds: number | null;
  readonly endedResolvedSeconds: number | null;
}

/** One column of the table. */
export interface SideReport {
  /** The version of each program. */
  readonly programs: Readonly<Record<string, string>>;
  readonly day: DayResult;
  readonly outage: OutageResult;
}

/** What one run gave. */
export interface PeersResult extends Circumstances {
  readonly name: string;
  readonly pace: Pace;
  readonly flatline: SideReport;
  readonly peer: SideReport;
}

const mebibyte = 2 ** 20;
// flatline's ÷ the three's together.
const cpuGoal = { bound: "at most", goal: 1 } as const;
const memoryGoal = { bound: "at most", goal: 1.3 } as const;

/** Returns messages with their time after an instant. */
export function logOf(messages: readonly Message[], fromMs: number): LoggedMessage[] {
  return messages.map(({ atMs, ...message }) => ({ afterSeconds: (atMs - fromMs) / secondMs, ...message }));
}

/** Returns the table of both sides; `noVerdict` says why the goals are not judged. */
export function peersTable({ flatline, peer, pace }: PeersResult, noVerdict: string | null): string {
  const row = (title: string, cell: (side: SideReport) => string): string[] => [title, cell(flatline), cell(peer)];
  const against = (goal: typeof cpuGoal | typeof memoryGoal, of: (side: SideReport) => number): string => {
    const ratio = of(flatline) / of(peer);
    return `${formatNumber(ratio)}×, goal ${formatGoal(goal)}, ${noVerdict ?? verdictOf(goal, ratio)}`;
  };
  return table(
    ["", titleOf(flatline), titleOf(peer)],
    [
      row("first message after the break, twice", ({ day }) => day.firstSeconds.map(seconds).join(", ")),
      row("what it says", ({ day }) => day.messages[0]?.text ?? "nothing"),
      row("messages, from the break to the end", ({ day }) => String(day.messages.length)),
      row(
        `receiver down for ${formatNumber(pace.outageMs / 60_000)} min: an alert that still fires when it is back`,
        ({ outage }) => later(outage.stillFiringSeconds),
      ),
      row("… an alert that began and ended meanwhile", ended),
      row("repeated after `kill -9` and a start", ({ day }) => repeated(day.repeatedAfterKill)),
      row("repeated after an ordinary restart", ({ day }) => repeated(day.repeatedAfterStop)),
      row("processes", ({ programs }) => String(Object.keys(programs).length)),
      row(
        `processor time (${against(cpuGoal, ({ day }) => day.cpuSecondsPerMinute)})`,
        ({ day }) => `${formatNumber(day.cpuSecondsPerMinute)} s per minute`,
      ),
      row(
        `resident memory (${against(memoryGoal, ({ day }) => day.residentBytes)})`,
        ({ day }) => `${formatNumber(day.residentBytes / mebibyte)} MiB`,
      ),
    ],
  );
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

function repeated(count: number): string {
  return count === 0 ? "nothing" : count === 1 ? "1 message" : `${count} messages`;
}
