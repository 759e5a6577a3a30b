import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createSystemClock, secondMs } from "../../../src/base/time.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres/server.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon, type Daemon } from "../../support/program/program.ts";
import { startAudit, type ReplicaAudit } from "../../support/postgres/replica-audit.ts";

// Fewer than a slow machine checks in a second: with more, the longest wait would tell how fast the machine is.
const organizations = 300;
const chaosMs = 120 * secondMs;
const restarts = 2;
// As in src/monitor/membership.ts.
const leaseMs = 10 * secondMs;
const flippingSlugs = 20;
const clock = createSystemClock();

let postgres: PostgresServer;
let folder: ProgramFolder;
let sink: HttpSink;
let upstream: Server;
let audit: ReplicaAudit;
let replicas: Daemon[];
/** While it is true the checker of the first organizations breaks and is mended every few seconds. */
let isFlipping: boolean;

beforeEach(async () => {
  isFlipping = true;
  replicas = [];
  postgres = await startPostgres();
  sink = await startHttpSink((response) => response.writeHead(204).end());
  upstream = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => response.setHeader("content-type", "application/json").end(answerOf(body)));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const url = await postgres.createDatabase(false);
  audit = await startAudit(url);
  const slugs = Array.from({ length: organizations }, (_, index) => `  - org-${index}`);
  folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "http://127.0.0.1:${(upstream.address() as AddressInfo).port}/api/v2", apiKey: key, concurrency: 64 }
defaults: { schedule: "* * * * * *", alert: { for: 0s, keepFiringFor: 0s, repeatInterval: 0s } }
organizations:
${slugs.join("\n")}
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}", timeout: 2s }]
server: { listen: "127.0.0.1:0" }
storage: { url: "${url}", poolSize: 5 }
log: { level: info }
`);
  replicas = await Promise.all([1, 2, 3].map(startReplica));
}, 120_000);
afterEach(async () => {
  for (const replica of replicas) await replica.kill();
  await audit.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
  await sink.close();
  await postgres.stop();
  await folder[Symbol.asyncDispose]();
});

const startReplica = (): Promise<Daemon> => startDaemon([], { cwd: folder.path });

function answerOf(body: string): string {
  const slug = /"slug":"([^"]*)"/.exec(body)?.[1] ?? "";
  const index = Number(slug.slice("org-".length));
  const isBroken =
    isFlipping && index < flippingSlugs && (Math.floor(clock.nowMs() / (4 * secondMs)) + index) % 2 === 0;
  const severity = isBroken ? "fail" : "ok";
  return JSON.stringify(sampleHealthcheck({ scope: { slug }, severity, ok: !isBroken }));
}

/**
 * For how long an organization waited for its check while `work` was under way, ms, at most. One that the next replica dies or
 * hangs with waits for another lease, which is not counted.
 */
async function longestWaitWhile(work: Promise<unknown>): Promise<number> {
  const over = new AbortController();
  const ended = work.finally(() => over.abort());
  let waitedMs = 0;
  while (!over.signal.aborted) {
    waitedMs = Math.max(waitedMs, await audit.oldestRunAgeMs(leaseMs));
    await clock.sleep(100, over.signal);
  }
  await ended;
  return waitedMs;
}

async function killAndRestart(index: number, downMs: number): Promise<void> {
  await replicas[index]?.kill();
  await clock.sleep(downMs);
  replicas[index] = await startReplica();
}

async function pause(index: number, forMs: number): Promise<void> {
  replicas[index]?.signal("SIGSTOP");
  await clock.sleep(forMs);
  replicas[index]?.signal("SIGCONT");
}

/** Numbers in [0, 1), the same in each run (a linear congruential generator, Numerical Recipes). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Kills and pauses replicas, one of them always left alone. */
async function chaos(forMs: number): Promise<void> {
  const random = seededRandom(7);
  const endsAtMs = clock.monotonicMs() + forMs;
  const busy = new Map<number, Promise<void>>();
  const failures: unknown[] = [];
  while (clock.monotonicMs() < endsAtMs && failures.length === 0) {
    const index = Math.floor(random() * 3);
    const disturb = random() < 0.5 ? killAndRestart : pause;
    const lastsMs = disturb === pause ? leaseMs + random() * 5 * secondMs : random() * 5 * secondMs;
    if (!busy.has(index) && busy.size < 2) {
      const work = disturb(index, lastsMs).catch((error: unknown) => void failures.push(error));
      busy.set(
        index,
        work.finally(() => busy.delete(index)),
      );
    }
    await clock.sleep(secondMs + random() * 4 * secondMs);
  }
  await Promise.all(busy.values());
  expect(failures).toEqual([]);
}

/** The age of the run that lies back longest, of those that a replica shows, ms. */
function oldestShownMs(exposition: string): number {
  const runs = exposition.matchAll(/^flatline_check_last_run_timestamp_seconds\{.*\} (\S+)$/gm);
  return clock.nowMs() - Math.min(...Array.from(runs, ([, seconds]) => Number(seconds) * secondMs));
}

/** Each change that receivers are to be told of reached the sink, in order; what came twice came under one id. */
async function expectAllTold(): Promise<void> {
  const bodies = new Map<string, string>();
  for (const { headers, body } of sink.requests) {
    const id = String(headers["webhook-id"]);
    expect(body).toBe(bodies.get(id) ?? body);
    bodies.set(id, body);
  }
  const told = new Map<string, string[]>();
  for (const body of bodies.values()) {
    const { alerts } = JSON.parse(body) as { alerts: { id: string; event: string }[] };
    for (const { id, event } of alerts) told.set(id, [...(told.get(id) ?? []), event]);
  }
  const happened = new Map<string, string[]>();
  for (const line of await audit.alertEvents()) {
    const [id = "", event = ""] = line.split(" ");
    if (event !== "pending") happened.set(id, [...(happened.get(id) ?? []), event]);
  }
  expect(happened.size).toBeGreaterThan(flippingSlugs);
  expect(told).toEqual(happened);
}

describe("three replicas on one PostgreSQL", () => {
  it(
    "check everything in time and tell everything, whichever of them dies, hangs or finds no database",
    { timeout: chaosMs + 180_000 },
    async ({ annotate }) => {
      await eventually(async () => (await audit.oldestRunAgeMs()) < 3 * secondMs, 60_000);
      const [runs, sinceMs] = [await audit.runs(), clock.monotonicMs()];

      const waitedMs = await longestWaitWhile(chaos(chaosMs));
      const rate = ((await audit.runs()) - runs) / ((clock.monotonicMs() - sinceMs) / secondMs);
      await annotate(
        `${organizations} organizations: ${Math.round(rate)} checks/s, the longest waited ${Math.round(waitedMs)} ms, ${await audit.lostLeases()} shards were taken from the dead`,
      );

      // Up to 20 s where one dies before it takes its share (docs/operations.md), and what the machine takes.
      expect(waitedMs).toBeLessThan(2.5 * leaseMs);
      for (let restart = 0; restart < restarts; restart++) {
        await postgres.restart();
        const backMs = clock.monotonicMs();
        const sinceBackMs = (): number => clock.monotonicMs() - backMs;
        await eventually(async () => (await audit.oldestRunAgeMs()) < sinceBackMs(), 2 * leaseMs);
        await annotate(`all were checked ${Math.round(sinceBackMs())} ms after PostgreSQL was back`);
      }
      isFlipping = false;
      await eventually(async () => (await audit.unfinished()) === 0, 3 * leaseMs);

      expect(await audit.violations()).toEqual([]);
      await expectAllTold();
      for (const { url } of replicas) {
        const shown = await readText(`${url}/metrics`);
        expect(shown.match(/^flatline_check_up\{.*\} 1$/gm)).toHaveLength(organizations);
        expect(oldestShownMs(shown)).toBeLessThan(leaseMs);
        expect(await readText(`${url}/-/ready`)).toContain("ok");
      }
    },
  );
});
