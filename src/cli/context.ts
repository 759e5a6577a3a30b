import type { Clock } from "../base/time.ts";

/** One of the two outputs: results go to stdout, logs and progress to stderr (CONTRACT 3). */
export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Width of the terminal; 80 where there is none, or it does not know its own. */
  readonly columns: number;
}

/** Everything of the process that a command may touch; cli/main.ts fills it from `process`, tests from what they like. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Version of flatline. */
  readonly version: string;
  readonly nodeVersion: string;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  /** The operating system's user who runs the command, or `uid:N` where the user has no name. */
  userName(): string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Calls `listener` at each SIGHUP that asks for a reload: on a terminal it ends the process instead. */
  onHangup(listener: () => void): void;
  /** Calls `listener`, instead of printing it, with an unhandled error: the process ends with it. */
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

/** Gives a text the colour of a severity, or another weight. */
export type Paint = (text: string, colour: keyof typeof colours) => string;

/** Returns what paints there: on a terminal, and not with NO_COLOR (no-color.org). */
export function painterFor({ isTerminal }: Output, env: CliContext["env"]): Paint {
  const isColoured = isTerminal && (env["NO_COLOR"] ?? "") === "";
  return (text, colour) => (isColoured && text.trim() !== "" ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text);
}

/** Returns the width to write for: that of the terminal; 80 where there is none, or where it says 0, as one of `script` and of CI does. */
export function outputColumns(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  const columns = stream.isTTY === true ? (stream.columns ?? 0) : 0;
  return columns > 0 ? columns : 80;
}

const mostProgressColumns = 60;
const progressEveryMs = 100;

/** Creates a line on a terminal that is written over and over; nothing elsewhere. */
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
