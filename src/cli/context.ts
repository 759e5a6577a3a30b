import type { Clock } from "../base/time.ts";

/** One of the two outputs: results go to stdout, logs and progress to stderr (CONTRACT 3). */
export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Width of the terminal; 80 without one, or if it does not know its width. */
  readonly columns: number;
}

/** The parts of the process that a command may use; cli/main.ts fills it from `process`. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Version of flatline. */
  readonly version: string;
  readonly nodeVersion: string;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  /** Returns the operating system's user, or `uid:N` if the user has no name. */
  userName(): string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Calls `listener` at each SIGHUP; on a terminal SIGHUP ends the process instead. */
  onHangup(listener: () => void): void;
  /** Calls `listener` with an unhandled error instead of printing it; the process ends then. */
  onCrash(listener: (error: unknown) => void): void;
  setExitCode(code: number): void;
}

/** Flags of a command that asks the HTTP API. */
export interface AskFlags {
  readonly config?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly by?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

const colours = { fail: 31, ok: 32, warn: 33, unknown: 35, bold: 1, dim: 2 } as const;

/** Gives a text a colour or a weight. */
export type Paint = (text: string, colour: keyof typeof colours) => string;

/** Returns a function that paints on a terminal only, and not with NO_COLOR (no-color.org). */
export function painterFor({ isTerminal }: Output, env: CliContext["env"]): Paint {
  const isColoured = isTerminal && (env["NO_COLOR"] ?? "") === "";
  return (text, colour) => (isColoured && text.trim() !== "" ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text);
}

/** Returns the width of the terminal; 80 without one, or if it reports 0, as `script` and CI do. */
export function outputColumns(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  const columns = stream.isTTY === true ? (stream.columns ?? 0) : 0;
  return columns > 0 ? columns : 80;
}

const mostProgressColumns = 60;
const progressEveryMs = 100;

/** Creates a line that is overwritten on a terminal; elsewhere nothing is shown. */
export function createProgressLine({ stderr, clock }: Pick<CliContext, "stderr" | "clock">) {
  let shownAtMs = -Infinity;
  const width = Math.min(mostProgressColumns, stderr.columns - 1);
  let isShown = false;
  return {
    show: (text: string): void => {
      if (!stderr.isTerminal || clock.monotonicMs() - shownAtMs < progressEveryMs) return;
      shownAtMs = clock.monotonicMs();
      isShown = true;
      stderr.write(`\r${text.slice(0, width).padEnd(width)}`);
    },
    clear: (): void => {
      if (isShown) stderr.write(`\r${" ".repeat(width)}\r`);
      isShown = false;
    },
  };
}
