import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

import { createSystemClock, secondMs } from "../../../src/base/time.ts";

/** A line of the daemon's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** How a program ended. */
export interface ProgramEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly cwd: string;
  /** Beside PATH; nothing else of this process's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads on stdin [nothing]. */
  readonly stdin?: string | Uint8Array;
  /** The Node to run it on [this one]. */
  readonly node?: string;
  /** The file to start [bin/flatline.js of this repository]. */
  readonly entry?: string;
}

/** The built program in a process of its own; killed at the end of its block, and with this process. */
export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** What it logged so far. */
  log(): readonly LogLine[];
  stdout(): string;
  stderr(): string;
  /** Resolves with the first line that says `message` and has these fields, within `timeoutMs` [15 s]. */
  untilLogged(message: string, fields?: Readonly<Record<string, unknown>>, timeoutMs?: number): Promise<LogLine>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when it has ended, within `timeoutMs` [15 s]; throws when it has not. */
  ended(timeoutMs?: number): Promise<ProgramEnd>;
  /** As the kernel does it when memory is out: no handler, no goodbye. */
  kill(): Promise<ProgramEnd>;
}

/** A running `flatline run`. */
export interface Daemon extends Program {
  /** Where it listens. */
  readonly url: string;
}

const ownEntry = fileURLToPath(new URL("../../../bin/flatline.js", import.meta.url));
const clock = createSystemClock();
const running = new Set<ChildProcess>();

// A test that broke before its block ended must not leave a process behind.
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts `flatline ARGS`. */
export function startProgram(args: readonly string[], options: ProgramOptions): Program {
  const child = spawn(options.node ?? process.execPath, [options.entry ?? ownEntry, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env["PATH"] ?? "", ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  running.add(child);
  let stdout = "";
  let stderr = "";
  let end: ProgramEnd | null = null;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  // It may well be killed before it has read what it is told.
  child.stdin.on("error", () => undefined).end(options.stdin ?? "");
  const closed = new Promise<ProgramEnd>((resolve) => {
    child.on("close", (exitCode, signal) => {
      running.delete(child);
      end = { exitCode, signal, stdout, stderr };
      resolve(end);
    });
  });

  function log(): LogLine[] {
    const lines = stderr.split("\n").slice(0, -1);
    return lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LogLine] : []));
  }

  async function ended(timeoutMs = 30 * secondMs): Promise<ProgramEnd> {
    const timeout = new AbortController();
    const late = clock.sleep(timeoutMs, timeout.signal).then(() => null);
    const found = await Promise.race([closed, late]);
    timeout.abort();
    if (found === null) throw new Error(`flatline ${args.join(" ")} has not ended: ${stderr}`);
    return found;
  }

  const kill = async (): Promise<ProgramEnd> => {
    child.kill("SIGKILL");
    return closed;
  };

  return {
    pid: child.pid ?? 0,
    log,
    stdout: () => stdout,
    stderr: () => stderr,
    untilLogged: async (message, fields = {}, timeoutMs = 30 * secondMs) => {
      const endsAtMs = clock.monotonicMs() + timeoutMs;
      for (;;) {
        const found = log().find((line) => line.msg === message && hasFields(line, fields));
        if (found !== undefined) return found;
        if (end !== null) throw new Error(`ended before it said "${message}": ${stderr}`);
        if (clock.monotonicMs() > endsAtMs) throw new Error(`has not said "${message}": ${stderr}`);
        await clock.sleep(10);
      }
    },
    signal: (name) => {
      child.kill(name);
    },
    ended,
    kill,
    [Symbol.asyncDispose]: async () => {
      await kill();
    },
  };
}

/** Runs `flatline ARGS` to its end. */
export function runProgram(args: readonly string[], options: ProgramOptions): Promise<ProgramEnd> {
  return startProgram(args, options).ended(60 * secondMs);
}

/** Starts `flatline run ARGS`; resolves when it listens. Its configuration should say `listen: 127.0.0.1:0`. */
export async function startDaemon(args: readonly string[], options: ProgramOptions): Promise<Daemon> {
  const program = startProgram(["run", ...args], options);
  try {
    const { url } = await program.untilLogged("flatline started", {}, 30 * secondMs);
    return { ...program, url: String(url) };
  } catch (error) {
    await program.kill();
    throw error;
  }
}

/** Sends SIGTERM and waits for the end, for ever. How long a stop may take is tested in virtual time. */
export function stopProgram(program: Program): Promise<ProgramEnd> {
  program.signal("SIGTERM");
  return program.ended();
}

/** Waits in real time, at most `timeoutMs` [30 s], for what another process causes; an error counts as not yet. */
export async function eventually<Found>(
  look: () => Found | null | false | Promise<Found | null | false>,
  timeoutMs = 30 * secondMs,
): Promise<Found> {
  const endsAtMs = clock.monotonicMs() + timeoutMs;
  let last: unknown = "";
  for (;;) {
    try {
      const found = await look();
      if (found !== null && found !== false) return found;
    } catch (error) {
      last = error;
    }
    if (clock.monotonicMs() > endsAtMs) throw new Error(`not so within ${timeoutMs} ms`, { cause: last });
    await clock.sleep(25);
  }
}

/** The body of a 200 at this address. */
export async function readText(url: string): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} of ${url}: ${text}`);
  return text;
}

/** The status of the answer at this address. */
export async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}

/** What `promtool check metrics` says of an exposition, and why it is not asked where it is not installed. */
export const promtool = {
  skipReason: spawnSync("promtool", ["--version"]).status === 0 ? null : "promtool is not installed",
  complaints: (exposition: string): string => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: exposition });
    return `${status === 0 ? "" : `exit ${status}: `}${String(stdout)}${String(stderr)}`;
  },
};

function hasFields(line: LogLine, fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(fields).every(([name, value]) => line[name] === value);
}
