import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Child {
  readonly pid: number;
  readonly process: ChildProcess;
  /** The next line of its stdout. */
  line(): Promise<string>;
  /** SIGTERM, and SIGKILL after ten seconds; resolves when it has ended. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** [inherit] */
  readonly stderr?: "inherit" | "ignore";
}

const killAfterMs = 10_000;

/** Starts a program that lives as long as its side. */
export function startChild(command: string, args: readonly string[], options: ChildOptions = {}): Child {
  const child = spawn(command, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: options.env ?? process.env,
    stdio: ["ignore", "pipe", options.stderr ?? "inherit"],
  });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  // A run that breaks off must leave nothing behind.
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  return {
    pid: child.pid ?? -1,
    process: child,
    line: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${command} ended before it said anything`);
      return value;
    },
    stop: async () => {
      child.kill("SIGTERM");
      const timer = setTimeout(kill, killAfterMs);
      await ended;
      clearTimeout(timer);
      process.off("exit", kill);
    },
  };
}

/** Starts a file with Node.js, named from the folder bench. */
export function startScript(name: string, args: readonly string[] = [], options: ChildOptions = {}): Child {
  return startChild(process.execPath, [fileURLToPath(new URL(`../${name}`, import.meta.url)), ...args], options);
}
