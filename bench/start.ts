import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Benchmark, Side } from "./harness/benchmark.ts";
import { startChild } from "./harness/child.ts";
import { freePort } from "../test/support/free-port.ts";
import { sleepMs } from "./daemon.ts";
import { residentBytesOf } from "./harness/process-cpu.ts";

const starts = 5;
// Beyond the first runs of every check, and beyond the ten seconds for which the thread that stores events waits for more.
const idleMs = 13_000;
const readyWithinMs = 30_000;
const mebibyte = 2 ** 20;

/** The built program as `npx flatline` and the image start it, on a store that exists: embedded, with one organization. */
const flatline: Side = {
  name: "flatline",
  kind: "flatline",
  start: async ({ quick }) => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
    const config = (port: number): string =>
      `source: { type: embedded }\norganizations: [acme]\nserver: { listen: "127.0.0.1:${port}" }\nstorage: { path: flatline.db }\n` +
      `receivers: [{ name: ops, type: webhook, url: "http://127.0.0.1:9/" }]\n`;
    const program = fileURLToPath(new URL("../bin/flatline.js", import.meta.url));
    const commands: Commands = {
      serve: async (port) => {
        await writeFile(join(folder, "flatline.yaml"), config(port));
        return [program, "run", "-c", "flatline.yaml"];
      },
      end: [program, "config", "check", "-c", "flatline.yaml"],
    };
    // Makes the store, and the compile cache.
    await startOnce(commands.serve, folder, 0);
    return {
      measure: () => measureStarts(commands, folder, quick),
      stop: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

function bare(extension: "mjs" | "cjs", name: string): Side {
  const server = fileURLToPath(new URL(`bare-server.${extension}`, import.meta.url));
  const nothing = [`--input-type=${extension === "mjs" ? "module" : "commonjs"}`, "--eval", ""];
  return {
    name,
    kind: "peer",
    version: () => process.versions.node,
    start: async ({ quick }) => ({
      measure: () => measureStarts({ serve: async (port) => [server, String(port)], end: nothing }, tmpdir(), quick),
      stop: async () => undefined,
    }),
  };
}

type Serve = (port: number) => Promise<string[]>;

/** Arguments of Node.js: of a server, and of something that ends by itself. */
interface Commands {
  readonly serve: Serve;
  readonly end: readonly string[];
}

async function measureStarts(
  commands: Commands,
  cwd: string,
  quick: boolean,
): Promise<{ start: number; check: number; memory: number }> {
  const readyMs: number[] = [];
  const endMs: number[] = [];
  for (let one = 0; one < (quick ? 1 : starts); one++) {
    readyMs.push((await startOnce(commands.serve, cwd, 0)).readyMs);
    endMs.push(await runOnce(commands.end, cwd));
  }
  const { residentBytes } = await startOnce(commands.serve, cwd, quick ? 500 : idleMs);
  return { start: median(readyMs), check: median(endMs), memory: residentBytes / mebibyte };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Milliseconds until it has ended. */
async function runOnce(args: readonly string[], cwd: string): Promise<number> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, args, { cwd, stdio: "ignore" });
  const [exitCode] = (await once(child, "close")) as [number | null];
  if (exitCode !== 0) throw new Error(`${args.join(" ")}: exit ${exitCode}`);
  return performance.now() - startedAtMs;
}

async function startOnce(
  serve: Serve,
  cwd: string,
  waitMs: number,
): Promise<{ readyMs: number; residentBytes: number }> {
  const port = await freePort();
  const args = await serve(port);
  const startedAtMs = performance.now();
  const child = startChild(process.execPath, args, { cwd, stderr: "ignore" });
  try {
    while (!(await isReady(port))) {
      if (performance.now() - startedAtMs > readyWithinMs) throw new Error(`${args.join(" ")} was not ready in time`);
      await sleepMs(1);
    }
    const readyMs = performance.now() - startedAtMs;
    await sleepMs(waitMs);
    return { readyMs, residentBytes: residentBytesOf(child.pid) };
  } finally {
    await child.stop();
  }
}

/** A plain socket: fetch would take its own milliseconds. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("connect", () => socket.write("GET /-/ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"));
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(answer.startsWith("HTTP/1.1 200")));
  });
}

const esModule = "bare node:http, ES module";

/** From the command to the first 200 of `/-/ready`, a command that ends by itself, and what an idle daemon holds. */
export const benchmark: Benchmark = {
  name: "start",
  title:
    "Start to the first 200 of /-/ready, `config check` beside a program of no lines, and resident memory after thirteen idle seconds",
  metrics: [
    { name: "start", title: "start", unit: "ms", better: "less" },
    { name: "check", title: "config check", unit: "ms", better: "less" },
    { name: "memory", title: "idle resident memory", unit: "MiB", better: "less" },
  ],
  repetitions: 3,
  sides: [flatline, bare("mjs", esModule), bare("cjs", "bare node:http, CommonJS")],
  goals: [
    {
      title: "start",
      of: { side: "flatline", metric: "start" },
      by: { side: esModule, metric: "start" },
      bound: "at most",
      goal: 5,
      moonshot: 3,
    },
    {
      title: "config check",
      of: { side: "flatline", metric: "check" },
      by: { side: esModule, metric: "check" },
      bound: "at most",
      goal: 4,
      moonshot: 3,
    },
    {
      title: "idle memory",
      of: { side: "flatline", metric: "memory" },
      by: { side: esModule, metric: "memory" },
      bound: "at most",
      goal: 1.6,
      moonshot: 1.4,
    },
  ],
};
