import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { secondMs, type Clock } from "../../base/time.ts";
import { linesOf, probeReplySchema, type ProbeRequest, type ProberSettings, type ProbeResult } from "./exchange.ts";

/** The program that looks, and what it may read. */
export interface ProberProgram {
  /** Path of Node.js. */
  readonly nodePath: string;
  /** The version of Node.js: 25 and later ask for the right to the network, too. */
  readonly nodeVersion: string;
}

export interface ProberOptions extends ProberProgram {
  readonly settings: ProberSettings;
  readonly clock: Clock;
  /** Called when the process ended by itself or had to be ended, with how many assets it was asked about. */
  readonly onFailure: (waiting: number) => void;
}

/** A child process that looks at assets. */
export interface Prober {
  /** Returns what one asset answers; `undecided` when the prober has failed or does not answer in time. */
  probe(request: Omit<ProbeRequest, "id">): Promise<ProbeResult>;
  /** Ends the process, and waits for that. */
  stop(): Promise<void>;
}

const heapMiB = 64;
const failed: ProbeResult = { answer: "undecided", status: null, title: null, bytes: null, reason: "prober" };

/**
 * Creates a prober: a process that starts with its first look and is ended by `stop`. It runs under Node.js' permission model with
 * no right but to read its own program, an empty environment and a small heap: who takes it over by a page finds nothing in it.
 */
export function createProber(options: ProberOptions): Prober {
  const { nodePath, nodeVersion, settings, clock, onFailure } = options;
  const waiting = new Map<number, (result: ProbeResult) => void>();
  let nextId = 0;
  let child: ChildProcess | null = null;
  let isStopping = false;
  // One file in dist; in src it is read with what it imports.
  const isSource = import.meta.url.endsWith(".ts");
  const program = fileURLToPath(new URL(`./prober-process.${isSource ? "ts" : "js"}`, import.meta.url));
  const readable = isSource ? fileURLToPath(new URL("../../..", import.meta.url)) : program;
  // The time for each URL: the request, and names that no server answers.
  const withinMs = 4 * (settings.http?.timeoutMs ?? 10 * secondMs) + 5 * secondMs;

  function start(): ChildProcess {
    const flags = [
      "--permission",
      `--allow-fs-read=${readable}`,
      ...(Number.parseInt(nodeVersion, 10) >= 25 ? ["--allow-net"] : []),
      `--max-old-space-size=${heapMiB}`,
    ];
    const started = spawn(nodePath, [...flags, program], { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
    started.on("error", () => end(started));
    started.once("exit", () => end(started));
    started.stdin.on("error", () => undefined);
    started.stdin.write(`${JSON.stringify(settings)}\n`);
    void read(started);
    return started;
  }

  async function read(from: ChildProcess): Promise<void> {
    if (from.stdout === null) return;
    try {
      for await (const line of linesOf(from.stdout)) {
        const { id, ...result } = probeReplySchema.parse(JSON.parse(line));
        waiting.get(id)?.(result);
      }
    } catch {
      // What does not keep to the exchange is not itself any more.
      end(from);
    }
  }

  /** What it was asked is undecided; the next request starts another one. */
  function end(ended: ChildProcess): void {
    ended.kill("SIGKILL");
    if (child !== ended) return;
    child = null;
    if (!isStopping) onFailure(waiting.size);
    for (const resolve of waiting.values()) resolve(failed);
  }

  return {
    probe: async (request) => {
      isStopping = false;
      child ??= start();
      const [asked, id] = [child, nextId++];
      const { promise, resolve } = Promise.withResolvers<ProbeResult>();
      waiting.set(id, resolve);
      const { signal, release } = clock.deadline(withinMs);
      signal.addEventListener("abort", () => end(asked), { once: true });
      asked.stdin?.write(`${JSON.stringify({ id, ...request } satisfies ProbeRequest)}\n`);
      try {
        return await promise;
      } finally {
        release();
        waiting.delete(id);
      }
    },
    stop: async () => {
      const running = child;
      if (running === null) return;
      isStopping = true;
      const hasEnded = running.exitCode === null && running.signalCode === null ? once(running, "exit") : null;
      end(running);
      await hasEnded;
    },
  };
}
