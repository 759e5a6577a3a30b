import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { asFlatlineError } from "../base/errors.ts";
import { createSystemClock } from "../base/time.ts";
import { escapeUnseen } from "../base/outside-text.ts";
import { outputColumns, type CliContext, type Output } from "./context.ts";
import { reportError, runProgram } from "./program.ts";

// The only place that uses the process: arguments, environment, streams, signals, exit code.

function output(stream: NodeJS.WriteStream): Output {
  return {
    // All output passes here.
    write: (text) => {
      stream.write(escapeUnseen(text));
    },
    isTerminal: stream.isTTY,
    columns: outputColumns(stream),
  };
}

const closedWithinMs = 50;
// sysexits' EX_IOERR.
const ioErrorExitCode = 74;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that went away (`flatline … | head`) is no error, but half a result must not pass for a whole one.
  if (error.code === "EPIPE") return;
  // The terminal has closed: SIGHUP follows.
  if (error.code === "EIO" && isOnTerminal) return;
  process.stderr.write(`flatline: standard output cannot be written: ${error.message}\n`);
  process.exit(ioErrorExitCode);
});
// Ignored: a daemon whose log's disk is full still has to send alerts.
process.stderr.on("error", () => undefined);

/**
 * Ends the process now. `process.exit` waits for threads: 10 s for a DNS look-up without an answer, for ever for a pipe
 * without a writer. So the process is replaced by a program that only exits.
 */
function endProcess(exitCode: number): void {
  if (process.execve !== undefined && existsSync(process.execPath)) {
    const exit = [process.execPath, "-e", `process.exitCode = ${exitCode}`];
    process.execve(process.execPath, exit, { ...process.env, NODE_OPTIONS: "" });
  }
  process.exit(exitCode);
}

const stopping = new AbortController();
// SIGHUP on a terminal means that it has closed; elsewhere it asks for a reload.
const isOnTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
const stopSignals = { SIGINT: 130, SIGTERM: 143, ...(isOnTerminal ? { SIGHUP: 129 } : {}) };
for (const [signal, exitCode] of Object.entries(stopSignals)) {
  process.on(signal, () => {
    if (stopping.signal.aborted) endProcess(exitCode);
    stopping.abort();
  });
}

// Without a listener Node.js would open its inspector, which lets others run code.
process.on("SIGUSR1", () => undefined);

// A process must not go on after an unexpected error; the next one takes up its work, as after a kill -9. Unhandled
// rejections come here, too.
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
      // A container's user may have no entry in /etc/passwd.
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

/** Resolves when all that was written has been sent, or cannot be. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

async function main(): Promise<void> {
  await runProgram(process.argv.slice(2), context);
  // A slow reader gets all of the output, unless a signal stops the process.
  if (!stopping.signal.aborted) await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // A handle that hangs must not keep the process.
  context.clock.deadline(closedWithinMs).signal.addEventListener("abort", () => {
    endProcess(Number(process.exitCode ?? 0));
  });
}

void main();
