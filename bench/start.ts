import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createSystemClock } from "../src/base/time.ts";
import { freePort } from "../test/support/free-port.ts";
import { startProgram, stopProgram } from "../test/support/program/program.ts";
import { bareServer } from "./api.ts";
import type { Benchmark, Goal, Side } from "./harness/benchmark.ts";
import { median } from "./harness/measure.ts";
import { tempFolder, usageOf } from "./processes.ts";

const starts = 5;
// The first runs of every check, and the collection of what the start leaves, are over by then.
const idleMs = 13_000;
const readyWithinMs = 30_000;
const mebibyte = 2 ** 20;
const clock = createSystemClock();

/** What is started: a server, and something that ends by itself. */
interface Commands {
  readonly entry: string;
  readonly cwd: string;
  readonly serve: (port: number) => Promise<readonly string[]>;
  readonly end: readonly string[];
}

/** The built program as `npx flatline` and the image start it: embedded, one organization, on a store that exists. */
const flatline: Side = {
  name: "flatline",
  start: async (quick, releases) => {
    const cwd = await tempFolder(releases);
    const entry = fileURLToPath(new URL("../bin/flatline.js", import.meta.url));
    const serve = async (port: number): Promise<readonly string[]> => {
      const config = `source: { type: embedded }
organizations: [acme]
server: { listen: "127.0.0.1:${port}" }
storage: { path: flatline.db }
receivers: [{ name: ops, type: webhook, url: "http://127.0.0.1:9/" }]
`;
      await writeFile(join(cwd, "flatline.yaml"), config);
      return ["run", "-c", "flatline.yaml"];
    };
    const commands = { entry, cwd, serve, end: [entry, "config", "check", "-c", "flatline.yaml"] };
    // Makes the store, and the compile cache.
    await startOnce(commands, 0);
    return () => measureStarts(commands, quick);
  },
};

const bare: Side = {
  name: "bare node:http, ES module",
  start: async (quick) => {
    const serve = async (port: number): Promise<readonly string[]> => Promise.resolve([String(port)]);
    const end = ["--input-type=module", "--eval", ""];
    return Promise.resolve(() => measureStarts({ entry: bareServer, cwd: tmpdir(), serve, end }, quick));
  },
};

async function measureStarts(commands: Commands, quick: boolean) {
  const readyMs: number[] = [];
  const endMs: number[] = [];
  for (let one = 0; one < (quick ? 1 : starts); one++) {
    readyMs.push((await startOnce(commands, 0)).readyMs);
    const startedAtMs = performance.now();
    const [exitCode] = await once(
      spawn(process.execPath, commands.end, { cwd: commands.cwd, stdio: "ignore" }),
      "close",
    );
    if (exitCode !== 0) throw new Error(`${commands.end.join(" ")}: exit ${exitCode}`);
    endMs.push(performance.now() - startedAtMs);
  }
  const { residentBytes } = await startOnce(commands, quick ? 500 : idleMs);
  return { start: median(readyMs), check: median(endMs), memory: residentBytes / mebibyte };
}

async function startOnce({ entry, cwd, serve }: Commands, waitMs: number) {
  const port = await freePort();
  const args = await serve(port);
  const startedAtMs = performance.now();
  await using program = startProgram(args, { entry, cwd });
  while (!(await isReady(port))) {
    if (performance.now() - startedAtMs > readyWithinMs) throw new Error(`not ready in time: ${program.stderr()}`);
    await clock.sleep(1);
  }
  const readyMs = performance.now() - startedAtMs;
  await clock.sleep(waitMs);
  const { residentBytes } = usageOf(program.pid);
  await stopProgram(program);
  return { readyMs, residentBytes };
}

/** Not by fetch, which takes milliseconds of its own. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get({ port, host: "127.0.0.1", path: "/-/ready", agent: false }, (answer) => {
      answer.resume().once("end", () => resolve(answer.statusCode === 200));
    });
    asked.once("error", () => resolve(false));
  });
}

const least = { peer: bare.name, bound: "at most" } as const satisfies Partial<Goal>;

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
  sides: [flatline, bare],
  goals: [
    { title: "start until ready, ms", metric: "start", ...least, goal: 4.5 },
    { title: "`config check`, ms", metric: "check", ...least, goal: 3.7 },
    { title: "idle memory, MiB", metric: "memory", ...least, goal: 1.6 },
  ],
};
