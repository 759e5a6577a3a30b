import type { Command } from "commander";
import type { Clock } from "../base/time.ts";

/** One of the two outputs: results go to stdout, logs and progress to stderr (CONTRACT 3). */
export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** Width of the terminal, or 80 where there is none. */
  readonly columns: number;
}

/** Everything of the process that a command may touch; cli/main.ts fills it from `process`, tests from what they like. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Of flatline. */
  readonly version: string;
  readonly nodeVersion: string;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly clock: Clock;
  readonly random: () => number;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Calls `listener` at each SIGHUP. */
  onHangup(listener: () => void): void;
  setExitCode(code: number): void;
}

/** Adds one command to the program. */
export type RegisterCommand = (program: Command, context: CliContext) => void;

/** Whether colour may be written there: on a terminal, and not with NO_COLOR (no-color.org). */
export function hasColour(output: Output, env: CliContext["env"]): boolean {
  return output.isTerminal && (env["NO_COLOR"] ?? "") === "";
}
