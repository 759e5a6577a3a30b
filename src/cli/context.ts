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

/** Returns the author of an act: `--by`, else the operating system's user. */
export function authorOf(by: string | undefined, context: Pick<CliContext, "userName">): string {
  return by ?? context.userName();
}

/** Returns whether colour may be written there: on a terminal, and not with NO_COLOR (no-color.org). */
export function hasColour(output: Output, env: CliContext["env"]): boolean {
  return output.isTerminal && (env["NO_COLOR"] ?? "") === "";
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
