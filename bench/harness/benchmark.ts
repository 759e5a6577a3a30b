/** One measured quantity of a benchmark. */
export interface Metric {
  /** The key in what a side measures. */
  readonly name: string;
  /** As the tables' column head. */
  readonly title: string;
  /** "ms", "rows/s", … */
  readonly unit: string;
  readonly better: "more" | "less";
}

/** One repetition: a number for each metric that a side has. */
export type Readings = Readonly<Record<string, number>>;

/** One of the things that are compared: flatline, a variant of it, or a peer. */
export interface Side {
  readonly name: string;
  /** The command that installs what it needs, or null when it is here. */
  readonly missing?: () => string | null;
  /**
   * Sets it up and returns what measures it once. With `quick` as little work as shows that everything is wired. What
   * it acquires, it registers at `releases`.
   */
  readonly start: (quick: boolean, releases: AsyncDisposableStack) => Promise<() => Promise<Readings>>;
}

/** What the median of a metric of flatline's must reach, as it is or beside that of a peer. */
export interface Goal {
  /** As in docs/comparison.md. */
  readonly title: string;
  readonly metric: string;
  /** [flatline] */
  readonly side?: string;
  /** Absent: the median itself is held against the goal. */
  readonly peer?: string;
  /** With a peer: how many times better flatline is at least, or how many times more it needs at most. */
  readonly bound: "at least" | "at most";
  readonly goal: number;
}

/** What a file bench/NAME.ts exports as `benchmark`. */
export interface Benchmark {
  /** The file's name without its ending. */
  readonly name: string;
  /** One sentence: what is measured. */
  readonly title: string;
  readonly metrics: readonly Metric[];
  readonly sides: readonly Side[];
  readonly goals: readonly Goal[];
  /** [5] How often each side is measured at most; sides take turns. */
  readonly repetitions?: number;
}

/** What one run gave of a side. */
export interface SideResult {
  readonly name: string;
  /** The command that installs what is missing; then there are no medians. */
  readonly skipped: string | null;
  /** Whether something went wrong; the medians are of the repetitions before that. */
  readonly hasFailed: boolean;
  /** By metric. */
  readonly medians: Readings;
}
