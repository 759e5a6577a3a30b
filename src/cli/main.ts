import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { asFlatlineError } from "../base/errors.ts";
import { createSystemClock } from "../base/time.ts";
import { escapeUnseen } from "../base/unseen-text.ts";
import { outputColumns, type CliContext, type Output } from "./context.ts";
import { reportError, runProgram } from "./program.ts";

// The one place that touches the process: arguments, environment, streams, signals, exit code.

function output(stream: NodeJS.WriteStream): Output {
  return {
    // Here, where everything passes: tables, JSON, logs and errors.
    write: (text) => {
      stream.write(escapeUnseen(text));
    },
    isTerminal: stream.isTTY,
    columns: outputColumns(stream),
  };
}

const closedWithinMs = 50;
// sysexits' EX_IOERR, as for a store that cannot be written.
const ioErrorExitCode = 74;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that went away (`flatline … | head`) is no error of ours. Half a result is one: it must not pass for a whole one.
  if (error.code === "EPIPE") return;
  // The terminal has closed: its SIGHUP is on its way.
  if (error.code === "EIO" && isOnTerminal) return;
  process.stderr.write(`flatline: standard output cannot be written: ${error.message}\n`);
  process.exit(ioErrorExitCode);
});
// Nowhere is left to say it, and a daemon whose log's disk is full has its alerts to send still.
process.stderr.on("error", () => undefined);

/**
 * Ends the process now. `process.exit` waits for the threads first: 10 s for the look-up of a name that no server answers, for
 * ever for a pipe without a writer. Another program in its place, which only exits, waits for none of them.
 */
function endProcess(exitCode: number): void {
  if (process.execve !== undefined && existsSync(process.execPath)) {
    const exit = [process.execPath, "-e", `process.exitCode = ${exitCode}`];
    process.execve(process.execPath, exit, { ...process.env, NODE_OPTIONS: "" });
  }
  process.exit(exitCode);
}

const stopping = new AbortController();
// A terminal that closes sends SIGHUP to what runs on it: there it is the end, elsewhere the order to reload.
const isOnTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
const stopSignals = { SIGINT: 130, SIGTERM: 143, ...(isOnTerminal ? { SIGHUP: 129 } : {}) };
for (const [signal, exitCode] of Object.entries(stopSignals)) {
  process.on(signal, () => {
    if (stopping.signal.aborted) endProcess(exitCode);
    stopping.abort();
  });
}

// Without a listener Node.js would open its inspector, in which whoever reaches the port runs code.
process.on("SIGUSR1", () => undefined);

// A process must not go on after an unexpected failure of one of its parts. Its unfinished
// work is taken up by the next process, as after a kill -9. Unhandled rejections come here, too.
let onCrash: ((error: unknown) => void) | null = null;
process.on("uncaughtException", (error: unknown) => {
  const exitCode = onCrash === null ? reportError(error, context) : asFlatlineError(error).exitCode;
  onCrash?.(error);
  endProcess(exitCode);
});

const packageFile = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
const { version } = JSON.parse(packageFile) as { version: string };

const context: CliContext = {
  env: process.env,
  cwd: process.cwd(),
  version,
  nodeVersion: process.versions.node,
  stdout: output(process.stdout),
  stderr: output(process.stderr),
  stdin: process.stdin,
  userName: () => {
    try {
      return userInfo().username;
    } catch {
      // A container may run with a number that has no entry in /etc/passwd.
      return `uid:${process.getuid?.() ?? "?"}`;
    }
  },
  clock: createSystemClock(),
  random: Math.random,
  signal: stopping.signal,
  onHangup: (listener) => {
    if (!isOnTerminal) process.on("SIGHUP", listener);
  },
  onCrash: (listener) => {
    onCrash = listener;
  },
  setExitCode: (code) => {
    process.exitCode = code;
  },
};

/** Resolves when what was written has gone out, or cannot. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

/** Runs the command line, and ends the process. */
async function main(): Promise<void> {
  await runProgram(process.argv.slice(2), context);
  // A reader of the output may take its time, but not when a signal asked for the end.
  if (!stopping.signal.aborted) await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // A command that has ended must exit. Closed handles are gone within moments; a handle that hangs keeps no process.
  context.clock.deadline(closedWithinMs).signal.addEventListener("abort", () => {
    endProcess(Number(process.exitCode ?? 0));
  });
}

void main();
