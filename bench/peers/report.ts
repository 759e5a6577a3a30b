import { formatGoal, formatNumber, table, verdictOf } from "../harness/table.ts";

/** What one of both did on the day, with the receiver up, and with one that was down; null: never. */
export interface SideReport {
  /** From each break to the first message about it. */
  readonly firstSeconds: readonly (number | null)[];
  /** What the first message says. */
  readonly text: string;
  /** How many came from the break to the end. */
  readonly messages: number;
  readonly cpuSecondsPerMinute: number;
  readonly residentBytes: number;
  /** Messages after `kill -9` and a start, though nothing had changed. */
  readonly repeated: number;
}

/** From the return of a receiver that was down; null: never. */
export interface OutageReport {
  readonly stillFiringSeconds: number | null;
  readonly endedFiringSeconds: number | null;
  readonly endedResolvedSeconds: number | null;
}

type Column = SideReport & OutageReport;

const mebibyte = 2 ** 20;
// flatline's ÷ the three's together.
const cpuGoal = { bound: "at most", goal: 1 } as const;
const memoryGoal = { bound: "at most", goal: 1.3 } as const;

/** Returns the table of both sides, with a title each; `noVerdict` says why the goals are not judged. */
export function peersTable(
  titles: readonly [string, string],
  [flatline, peer]: readonly [Column, Column],
  noVerdict: string | null,
): string {
  const row = (title: string, cell: (side: Column) => string): string[] => [title, cell(flatline), cell(peer)];
  const against = (goal: typeof cpuGoal | typeof memoryGoal, of: (side: Column) => number): string => {
    const ratio = of(flatline) / of(peer);
    return `${formatNumber(ratio)}×, goal ${formatGoal(goal)}, ${noVerdict ?? verdictOf(goal, ratio)}`;
  };
  return table(
    ["", ...titles],
    [
      row("first message after the break, twice", (side) => side.firstSeconds.map(seconds).join(", ")),
      row("what it says", ({ text }) => text),
      row("messages, from the break to the end", ({ messages }) => String(messages)),
      row("receiver down: an alert that still fires when it is back", (side) => seconds(side.stillFiringSeconds)),
      row("… an alert that began and ended meanwhile, firing", (side) => seconds(side.endedFiringSeconds)),
      row("… resolved", (side) => seconds(side.endedResolvedSeconds)),
      row("messages repeated after `kill -9` and a start", ({ repeated }) => String(repeated)),
      row(
        `processor time (${against(cpuGoal, (side) => side.cpuSecondsPerMinute)})`,
        (side) => `${formatNumber(side.cpuSecondsPerMinute)} s per minute`,
      ),
      row(
        `resident memory (${against(memoryGoal, (side) => side.residentBytes)})`,
        (side) => `${formatNumber(side.residentBytes / mebibyte)} MiB`,
      ),
    ],
  );
}

function seconds(value: number | null): string {
  return value === null ? "never" : `${formatNumber(value)} s`;
}
