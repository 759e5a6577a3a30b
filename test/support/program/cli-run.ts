import { Readable } from "node:stream";

import { createSystemClock, type Clock } from "../../../src/base/time.ts";
import type { CliContext } from "../../../src/cli/context.ts";
import { runProgram } from "../../../src/cli/program.ts";

/** What a command left behind. */
export interface CliOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** What a person types on the terminal that is there then; none: there is no terminal. */
  readonly typed?: string;
  readonly stdin?: string | Buffer;
}

/** Runs the program in this process, as cli/main.ts does; without a terminal unless something is typed. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliOutcome> {
  const isTerminal = options.typed !== undefined;
  let exitCode = 0;
  let stdout = "";
  let stderr = "";
  const context: CliContext = {
    env: options.env ?? {},
    cwd: options.cwd,
    version: "0.0.0",
    nodeVersion: "24.0.0",
    stdout: { write: (text) => void (stdout += text), isTerminal, columns: 80 },
    stderr: { write: (text) => void (stderr += text), isTerminal, columns: 80 },
    stdin: Object.assign(Readable.from([options.typed ?? options.stdin ?? []].flat()), { isTTY: isTerminal }),
    clock: options.clock ?? createSystemClock(),
    random: () => 0.5,
    signal: options.signal ?? new AbortController().signal,
    userName: () => options.env?.["USER"] ?? "tester",
    onHangup: () => undefined,
    onCrash: () => undefined,
    setExitCode: (code) => {
      exitCode = code;
    },
  };
  await runProgram(args, context);
  return { exitCode, stdout, stderr };
}
