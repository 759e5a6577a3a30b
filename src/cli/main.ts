import { readFileSync } from "node:fs";
import { createSystemClock } from "../base/time.ts";
import { outputColumns, type CliContext, type Output } from "./context.ts";
import { runProgram } from "./program.ts";

// The one place that touches the process: arguments, environment, streams, signals, exit code.

function output(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => {
      stream.write(text);
    },
    isTerminal: stream.isTTY,
    columns: outputColumns(stream),
  };
}

// A reader that went away (`flatline … | head`) is no error of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    stopping.abort();
  });
}

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
  clock: createSystemClock(),
  random: Math.random,
  signal: stopping.signal,
  onHangup: (listener) => {
    process.on("SIGHUP", listener);
  },
  setExitCode: (code) => {
    process.exitCode = code;
  },
};

await runProgram(process.argv.slice(2), context);
