import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";

import { Secret } from "../src/base/secret.ts";
import { createSystemClock, dayMs, minuteMs, secondMs } from "../src/base/time.ts";
import { openStore } from "../src/store/open.ts";
import type { StoreLocation } from "../src/store/store.ts";
import { eventually, startProgram } from "../test/support/program/program.ts";
import { slugOf, writeEvents } from "./counts/events.ts";
import type { Benchmark, Readings, Side } from "./harness/benchmark.ts";
import { startPostgres } from "./postgres.ts";
import { startDaemon, tempFolder, usageOf } from "./processes.ts";

const clock = createSystemClock();
export const token = "bench-token-of-sixteen-bytes";
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const deathsEach = 20;
const withinMs = 10 * minuteMs;
// Beyond groupWait: what is due by then has been sent.
const settleMs = 15 * secondMs;
const idleMs = minuteMs;

/**
 * A checker breaks for all organizations between two runs: how long until all is recorded, and until all are judged.
 */
function night(name: string, organizations: number, isPostgres: boolean): Side {
  return {
    name,
    start: async (quick, releases) => {
      const slugs = Array.from({ length: quick ? 20 : organizations }, (_, index) => slugOf(index));
      const postgres = isPostgres ? await startPostgres(releases) : null;
      return async (): Promise<Readings> => {
        await using own = new AsyncDisposableStack();
        const inbox = await startInbox(own);
        await postgres?.client.query("drop database if exists flatline");
        await postgres?.client.query("create database flatline");
        const url = `postgres://postgres:bench@127.0.0.1:${postgres?.port}/flatline?sslmode=disable`;
        const location = (folder: string): StoreLocation =>
          isPostgres ? { url: new Secret(url), poolSize: 4 } : { path: join(folder, "flatline.db") };
        const { url: daemon } = await startDaemon(
          {
            config: `source: { type: embedded }
defaults: { schedule: "0 0 1 1 *" }
organizations: [${slugs.join(", ")}]
receivers: [{ name: ops, type: webhook, url: "${inbox.url}" }]`,
            server: `token: ${token}`,
            ...(isPostgres ? { storage: `{ url: "${url}" }` } : {}),
            prepare: (folder) => fillStore(location(folder), slugs),
          },
          own,
        );
        const answers = startAsking([`${daemon}/-/healthy`], own);
        const recordMs = await timed(() =>
          eventually(async () => {
            const { incidents } = (await askJson(`${daemon}/api/v1/incidents`)) as {
              incidents: { organizations: number }[];
            };
            return incidents[0]?.organizations === slugs.length;
          }, withinMs),
        );
        const recordLongestMs = Math.max(...answers.takeMs());
        await clock.sleep(settleMs);
        answers.takeMs();
        const body = JSON.stringify({ verdict: "checker", comment: "captcha page" });
        const judgeMs = await timed(() => askJson(`${daemon}/api/v1/incidents/1/judgement`, { method: "POST", body }));
        const judgeLongestMs = Math.max(...(await answers.stop()));
        await clock.sleep(settleMs);
        return { recordMs, recordLongestMs, judgeMs, judgeLongestMs, messages: inbox.ids.size };
      };
    },
  };
}

/** Pages and the gate while five million events are imported. */
const reads: Side = {
  name: "reads beside an import",
  start: async (quick, releases) => {
    const folder = await tempFolder(releases);
    const { csv } = await writeEvents({
      folder,
      events: quick ? 20_000 : 5_000_000,
      endMs: clock.nowMs(),
      withIds: true,
    });
    return async (): Promise<Readings> => {
      await using own = new AsyncDisposableStack();
      const slugs = Array.from({ length: 1_000 }, (_, index) => slugOf(index));
      const config = `source: { type: embedded }\norganizations: [${slugs.join(", ")}]`;
      const { url } = await startDaemon({ config, server: `token: ${token}` }, own);
      await clock.sleep(settleMs);
      const answers = startAsking([`${url}/`, `${url}/o/${slugOf(1)}`, `${url}/api/v1/gate/${slugOf(2)}`], own);
      const args = ["import", "events", csv, "--url", url];
      const importing = own.use(startProgram(args, { cwd: folder, env: { FLATLINE_TOKEN: token } }));
      const { exitCode, stderr } = await importing.ended(withinMs);
      if (exitCode !== 0) throw new Error(stderr);
      const tookMs = (await answers.stop()).toSorted((a, b) => a - b);
      return {
        readP95Ms: tookMs[Math.floor(0.95 * tookMs.length)] ?? Number.NaN,
        readLongestMs: tookMs.at(-1) ?? Number.NaN,
      };
    };
  },
};

/** Processor time of a daemon with nothing to do, after its first runs. */
const idle: Side = {
  name: "idle",
  start: async (quick) =>
    Promise.resolve(async (): Promise<Readings> => {
      await using own = new AsyncDisposableStack();
      const config = `source: { type: embedded }\ndefaults: { schedule: "0 0 1 1 *" }\norganizations: [acme]`;
      const { pid } = await startDaemon({ config }, own);
      await clock.sleep(settleMs);
      const before = usageOf(pid).cpuSeconds;
      await clock.sleep(quick ? secondMs : idleMs);
      return { idleSeconds: usageOf(pid).cpuSeconds - before };
    }),
};

/** A store of a fleet that has run before; assets of some organizations [all] have died within the last minutes. */
export async function fillStore(
  location: StoreLocation,
  slugs: readonly string[],
  spiking: readonly string[] = slugs,
): Promise<void> {
  const store = await openStore({ ...location, clock });
  await store.takeWriter();
  const nowMs = clock.nowMs();
  const death = { assetType: "URL", status: "DETECTED_AS_DEAD", id: null, count: 1 };
  const deaths = spiking.flatMap((slug) => [
    { ...death, slug, asset: null, atMs: nowMs - 9 * dayMs },
    ...Array.from({ length: deathsEach }, (_, at) => ({
      ...death,
      slug,
      asset: `host-${at}`,
      atMs: nowMs - at * secondMs,
    })),
  ]);
  for (let start = 0; start < deaths.length; start += 2_000)
    await store.transaction(({ events }) => events.add(deaths.slice(start, start + 2_000)));
  const past = { atMs: nowMs - 8 * dayMs, severity: "ok", currentCount: 0, expectedCount: 0 } as const;
  for (const slug of slugs) await store.runs.addPast("dead-asset-spike", slug, [past]);
  await store.close();
}

/** A receiver that accepts everything, and notes each notification once. */
async function startInbox(releases: AsyncDisposableStack) {
  const ids = new Set<string>();
  const server = createServer((request, response) => {
    ids.add(String(request.headers["webhook-id"]));
    request.resume().once("end", () => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  releases.defer(() => void server.close());
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, ids };
}

/** Asks one after the other, fifty times a second at most, and notes how long each answer took. */
function startAsking(urls: readonly string[], releases: AsyncDisposableStack) {
  let tookMs: number[] = [];
  const stopping = new AbortController();
  const asking = (async () => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      tookMs.push(await timed(async () => (await fetch(urls[turn % urls.length] ?? "", { headers })).text()));
      await clock.sleep(20);
    }
  })();
  const takeMs = (): number[] => {
    const taken = tookMs;
    tookMs = [];
    return taken;
  };
  const stop = async (): Promise<readonly number[]> => {
    stopping.abort();
    await asking;
    return takeMs();
  };
  // What fails first is said, not that the daemon is gone then.
  releases.defer(async () => void (await stop().catch(() => undefined)));
  return { takeMs, stop };
}

async function askJson(url: string, options: RequestInit = {}): Promise<unknown> {
  const answer = await fetch(url, { ...options, headers });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}

const three = ["3,000 organizations, SQLite", "3,000 organizations, PostgreSQL"] as const;
const ten = "10,000 organizations, SQLite";
const most = (side: string, metric: string, title: string, goal: number) =>
  ({ title, metric, side, bound: "at most", goal }) as const;

/** What docs/comparison.md says of a night in which a checker breaks for all. */
export const benchmark: Benchmark = {
  name: "night",
  title: "A checker breaks for all at once; reads beside an import of 5,000,000 events; a minute of nothing to do",
  metrics: [
    { name: "recordMs", title: "all have failed", unit: "ms", better: "less" },
    { name: "recordLongestMs", title: "longest answer meanwhile", unit: "ms", better: "less" },
    { name: "judgeMs", title: "one judgement of all", unit: "ms", better: "less" },
    { name: "judgeLongestMs", title: "longest answer meanwhile", unit: "ms", better: "less" },
    { name: "messages", title: "messages of all this", unit: "", better: "less" },
    { name: "readP95Ms", title: "a read, 95th percentile", unit: "ms", better: "less" },
    { name: "readLongestMs", title: "the longest read", unit: "ms", better: "less" },
    { name: "idleSeconds", title: "processor time a minute", unit: "s", better: "less" },
  ],
  sides: [night(three[0], 3_000, false), night(three[1], 3_000, true), night(ten, 10_000, false), reads, idle],
  repetitions: 1,
  goals: [
    most(three[0], "judgeMs", "a judgement of 3,000 organizations, SQLite, ms", 1_000),
    most(three[1], "judgeMs", "the same, PostgreSQL, ms", 1_000),
    most(reads.name, "readP95Ms", "a read beside an import, 95th percentile, ms", 50),
    most(reads.name, "readLongestMs", "the longest read beside an import, ms", 250),
    most(idle.name, "idleSeconds", "processor time of an idle minute, s", 0.05),
  ],
};
