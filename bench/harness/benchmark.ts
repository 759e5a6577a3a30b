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
  /** Of a peer. */
  readonly version?: () => string;
  /** The command that installs what it needs, or null when it is here. */
  readonly missing?: () => string | null;
  /**
   * Sets it up and returns what measures it once. With `quick` as little work as shows that everything is wired. What it
   * acquires, it registers at `releases`.
   */
  readonly start: (quick: boolean, releases: AsyncDisposableStack) => Promise<() => Promise<Readings>>;
}

/** What the median of a metric of flatline's must reach, as it is or beside that of a peer. */
export interface Goal {
  /** As in docs/benchmarks.md. */
  readonly title: string;
  readonly metric: string;
  readonly side: string;
  /** Absent: the median itself is held against the goal. */
  readonly peer?: string;
  /** With a peer: how many times better flatline is at least, or how many times more it needs at most. */
  readonly bound: "at least" | "at most";
  readonly goal: number;
  readonly moonshot?: number;
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

/** Where and when something was measured. */
export interface Circumstances {
  readonly measuredAt: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
    readonly kernel: string;
  };
  readonly versions: { readonly node: string; readonly flatline: string };
}

export interface SideResult {
  readonly name: string;
  readonly version?: string;
  /** The command that installs what was missing; then there are no metrics. */
  readonly skipped?: string;
  /** What went wrong; the metrics are of the repetitions before that. */
  readonly failed?: string;
  /** `repetitions` in the order of measuring. */
  readonly metrics: Readonly<Record<string, { readonly median: number; readonly repetitions: readonly number[] }>>;
}

/** What one run gave. */
export interface BenchmarkResult extends Circumstances {
  readonly name: string;
  readonly sides: readonly SideResult[];
}
