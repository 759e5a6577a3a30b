import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A script of test/support in a process of its own, that tells by lines on stdout how far it is. */
export interface LineProcess {
  /** What it has said so far. */
  readonly lines: readonly string[];
  /** Resolves when it has said so many lines; throws when it ended before, with what it said on stderr. */
  untilLines(count: number): Promise<void>;
  /** Resolves when it has said this line; throws when it ended before. */
  untilLine(line: string): Promise<void>;
  /** A line on its stdin. */
  tell(line: string): void;
  /** Resolves when it has ended by itself; throws when it failed. */
  ended(): Promise<void>;
  /** As the kernel does it when memory is out: no handler, no goodbye. Resolves when every line has been read. */
  kill(): Promise<void>;
}

/** Starts a file with Node.js, named from the folder test/support. */
export function startLineProcess(script: string, args: readonly string[]): LineProcess {
  const path = fileURLToPath(new URL(`../${script}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(child, "close");
  const lines: string[] = [];
  let errors = "";
  let isClosed = false;
  let wake: () => void = () => undefined;
  child.on("close", () => {
    isClosed = true;
    wake();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    wake();
  });

  async function until(isSaid: () => boolean): Promise<void> {
    while (!isSaid()) {
      if (isClosed) throw new Error(`${script} ended after ${lines.length} lines: ${errors}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  return {
    lines,
    untilLines: (count) => until(() => lines.length >= count),
    untilLine: (line) => until(() => lines.includes(line)),
    tell: (line) => {
      child.stdin.write(`${line}\n`);
    },
    ended: async () => {
      await closed;
      if (child.exitCode !== 0) throw new Error(`${script} failed: ${errors}`);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await closed;
      if (child.signalCode !== "SIGKILL") throw new Error(`${script} ended by itself: ${errors}`);
    },
  };
}
