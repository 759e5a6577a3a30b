/** One measured quantity of a benchmark: every side reports a number for each of its repetitions. */
export interface Metric {
  /** The key in what `measure` answers. */
  readonly name: string;
  /** As the tables' column head. */
  readonly title: string;
  /** "ms", "MB", a quotient of two units, … */
  readonly unit: string;
  readonly better: "more" | "less";
}

export interface RunOptions {
  /** A smoke run: as little work as shows that everything is wired. Its numbers say nothing and are not stored. */
  readonly quick: boolean;
}

/** A side that is set up: processes are running, data is loaded. */
export interface RunningSide {
  /** One repetition: a number for each metric that this side has, in the metric's unit. */
  measure(): Promise<Readonly<Record<string, number>>>;
  /** Ends its processes and removes its files. */
  stop(): Promise<void>;
}

/** One of the things that are compared: flatline, a variant of it, or a peer. */
export interface Side {
  /** "flatline", "blackbox_exporter, keep-alive off", … */
  readonly name: string;
  readonly kind: "flatline" | "peer";
  /** Of a peer: its version. */
  version?(): Promise<string> | string;
  /** Of what may be missing: the command that installs it, or null when it is here. [is here] */
  missing?(): Promise<string | null> | string | null;
  start(options: RunOptions): Promise<RunningSide>;
}

/** One number of one side; `metric` may be left out where the benchmark has only one. */
export interface Reading {
  readonly side: string;
  readonly metric?: string;
}

/** A median, or a ratio of two, and what it must reach. */
export interface Goal {
  /** "remote checks, keep-alive" */
  readonly title: string;
  /** The ratio is `of` ÷ `by`: put the side with the larger number first, so that "8 times better" reads 8. */
  readonly of: Reading;
  /** Absent: `of` itself is held against the goal, in its metric's unit. */
  readonly by?: Reading;
  /** "at least": a larger ratio is better; "at most": a smaller one. */
  readonly bound: "at least" | "at most";
  readonly goal: number;
  readonly moonshot?: number;
}

/** What a file bench/NAME.ts exports as `benchmark`. */
export interface Benchmark {
  /** The file's name without its ending; also that of its script `bench:NAME` and of its results file. */
  readonly name: string;
  /** One sentence: what is measured. */
  readonly title: string;
  readonly metrics: readonly Metric[];
  readonly sides: readonly Side[];
  readonly goals: readonly Goal[];
  /** [5] How often each side is measured at most; sides take turns. Fewer where that would take minutes. */
  readonly repetitions?: number;
  /** Sides are set up one after the other, when each set-up would disturb or starve the others. [false: all at once, interleaved] */
  readonly isolated?: boolean;
  /** For what is no measure of speed: does everything itself, with the words that follow its name on the command line. */
  readonly run?: (words: readonly string[], options: RunOptions) => Promise<void>;
  /** After the results were written (not in a quick run): plots, further files. */
  finish?(result: BenchmarkResult): Promise<void>;
}

export interface MetricResult {
  readonly unit: string;
  readonly better: "more" | "less";
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Each repetition, in the order of measuring. */
  readonly repetitions: readonly number[];
}

export interface SideResult {
  readonly name: string;
  readonly kind: "flatline" | "peer";
  readonly version?: string;
  /** The command that installs what was missing; then there are no metrics. */
  readonly skipped?: string;
  /** What went wrong; the metrics are of the repetitions before that. */
  readonly failed?: string;
  readonly metrics: Readonly<Record<string, MetricResult>>;
}

export interface GoalResult {
  readonly title: string;
  /** Of the medians, or the one median; null when a side was skipped. */
  readonly ratio: number | null;
  /** Of the one median; absent: it is a ratio. */
  readonly unit?: string;
  readonly bound: "at least" | "at most";
  readonly goal: number;
  readonly goalMet: boolean | null;
  readonly moonshot?: number;
  readonly moonshotMet?: boolean | null;
}

/** What bench/results/NAME.json holds. */
export interface BenchmarkResult {
  readonly name: string;
  readonly title: string;
  readonly measuredAt: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
    readonly kernel: string;
  };
  readonly versions: { readonly node: string; readonly flatline: string };
  readonly metrics: readonly Metric[];
  readonly sides: readonly SideResult[];
  readonly goals: readonly GoalResult[];
}
