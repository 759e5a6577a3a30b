import type { Severity } from "../../../contract/severity.ts";

/** What a chart shows, in numbers. Times are epoch ms; a value holds from its instant until the next one. */
export interface ChartData {
  /** The deaths in the window, or the good answers of the platform per minute. */
  readonly kind: "deaths" | "answers";
  /** "the 120 organizations", "acme"; of answers: the host that gives them. */
  readonly subject: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  /** Instants of the values, the first one `fromMs` and the last one `toMs`. */
  readonly at: readonly number[];
  /** Deaths in the window that ends then; good answers per minute since the instant before. null: unknown. */
  readonly count: readonly (number | null)[];
  /** As long as `at`, or empty: there are none. Of answers: how many were asked for. */
  readonly expected: readonly (number | null)[];
  readonly warn: readonly (number | null)[];
  readonly fail: readonly (number | null)[];
  /** What `count`, `expected` and the lines are of; bars are of deaths. */
  readonly counting: "deaths" | "assets";
  /** Length of the window; null: the organizations' differ. */
  readonly windowHours: number | null;
  /** null: single deaths are not known. */
  readonly bars: ChartBars | null;
  /** The newest deaths, of a chart that goes on; null: not known, or it ends in the past. */
  readonly lately: { readonly sinceMs: number; readonly deaths: number } | null;
  /** Deaths that are usual, per hour; null: unknown. */
  readonly usualPerHour: number | null;
  /** The incident that the chart belongs to; null: none. */
  readonly incident: ChartIncident | null;
  /** When each organization began; null: it is about one alone. */
  readonly began: readonly number[] | null;
  /** How it stood, oldest first; null: it is about many. */
  readonly states: readonly ChartState[] | null;
  /** What people did, oldest first. */
  readonly acts: readonly ChartAct[];
  /** Before it nothing is known; null: before the chart begins. */
  readonly knownFromMs: number | null;
  /** Less than a day before the window is known: nothing is usual yet (CONTRACT 2). */
  readonly isThin: boolean;
  readonly ranges: readonly ChartRange[];
}

/** Deaths by stretches of one length, which begin on the clock; the first and the last one may be cut by the range. */
export interface ChartBars {
  readonly lengthMs: number;
  /** Where each begins. */
  readonly from: readonly number[];
  readonly deaths: readonly number[];
}

/** When it was open. */
export interface ChartIncident {
  readonly beganMs: number;
  /** When its excess stopped; null: it did not, or nobody knows. */
  readonly stoppedMs: number | null;
  /** null: it is open. */
  readonly endedMs: number | null;
  /** How many began within which time, and how many usually do; null: there is no fleet verdict. */
  readonly together: { readonly count: number; readonly withinMs: number; readonly usual: number } | null;
}

export interface ChartState {
  readonly fromMs: number;
  readonly severity: Severity;
}

/** What happened at an instant: the symbol `#m-…` of its mark, and its words without the time: "notified". */
export interface ChartAct {
  readonly atMs: number;
  readonly mark: "marker" | "dot" | "ring" | "comment";
  readonly text: string;
}

/** A range that one can choose: a link. */
export interface ChartRange {
  readonly name: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** Returns the last value of those that each hold until the next; null without one. */
export function lastOf(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/** Returns how many deaths are usual in so long a time; null: unknown. */
export function usualIn({ usualPerHour }: Pick<ChartData, "usualPerHour">, lengthMs: number): number | null {
  return usualPerHour === null ? null : (usualPerHour * lengthMs) / 3_600_000;
}

/** Returns where a bar ends. */
export function barEnd({ from, lengthMs }: ChartBars, index: number, toMs: number): number {
  return Math.min(Math.floor((from[index] ?? 0) / lengthMs) * lengthMs + lengthMs, toMs);
}

/**
 * Returns the mean deaths per hour that were counted before the incident began, of what is known; null: it began with it.
 */
export function perHourBefore({ bars, incident, knownFromMs, fromMs, toMs }: ChartData): number | null {
  if (bars === null || incident === null) return null;
  const startMs = knownFromMs ?? fromMs;
  const before = bars.from.flatMap((_, index) => {
    const endMs = barEnd(bars, index, toMs);
    return endMs > startMs && endMs <= incident.beganMs ? [{ deaths: bars.deaths[index] ?? 0, endMs }] : [];
  });
  const lengthMs = (before.at(-1)?.endMs ?? startMs) - startMs;
  return lengthMs <= 0 ? null : (before.reduce((sum, { deaths }) => sum + deaths, 0) / lengthMs) * 3_600_000;
}
