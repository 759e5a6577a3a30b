import { sleepMs } from "../daemon.ts";
import { startChild, type Child } from "../harness/child.ts";
import { cpuSecondsOf, residentBytesOf } from "../harness/process-cpu.ts";

/** One process of a monitor. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Answers 200 when it works. */
  readonly readyUrl: string;
}

/** What watches the platform: one process or several. */
export interface Monitor {
  cpuSeconds(): number;
  residentBytes(): number;
  /** Ends all processes with this signal at once, and starts them again. */
  restart(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  stop(): Promise<void>;
}

const readyWithinMs = 30_000;

/** Starts the programs; resolves when all of them are ready. */
export async function startMonitor(programs: readonly Program[]): Promise<Monitor> {
  let children: readonly Child[] = [];
  const start = async (): Promise<void> => {
    children = programs.map(({ command, args, cwd }) => startChild(command, args, { cwd }));
    await Promise.all(programs.map(untilReady));
  };
  const stop = async (): Promise<void> => {
    await Promise.all(children.map((child) => child.stop()));
  };
  const sum = (of: (pid: number) => number): number => {
    const ended = children.find(({ process }) => process.exitCode !== null || process.signalCode !== null);
    if (ended !== undefined)
      throw new Error(`${ended.process.spawnfile} ended by itself, with ${ended.process.exitCode}`);
    return children.reduce((total, { pid }) => total + of(pid), 0);
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    cpuSeconds: () => sum(cpuSecondsOf),
    residentBytes: () => sum(residentBytesOf),
    restart: async (signal) => {
      for (const child of children) child.process.kill(signal);
      await stop();
      await start();
    },
    stop,
  };
}

async function untilReady({ command, readyUrl }: Program): Promise<void> {
  for (const startedAtMs = performance.now(); performance.now() - startedAtMs < readyWithinMs;) {
    const response = await fetch(readyUrl).catch(() => null);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await sleepMs(100);
  }
  throw new Error(`${command} was not ready after ${readyWithinMs / 1_000} s: ${readyUrl}`);
}
