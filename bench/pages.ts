import { join } from "node:path";

import { createSystemClock, minuteMs, secondMs } from "../src/base/time.ts";
import { eventually } from "../test/support/program/program.ts";
import { slugOf } from "./counts/events.ts";
import type { Benchmark, Readings, Side } from "./harness/benchmark.ts";
import { fillStore, token } from "./night.ts";
import { startDaemon, usageOf } from "./processes.ts";

const clock = createSystemClock();
const [organizations, spikingOnes] = [10_000, 3_000];
const pages = {
  overviewMs: "/",
  incidentsMs: "/incidents",
  incidentMs: "/incidents/1",
  organizationMs: `/o/${slugOf(1)}`,
  receiversMs: "/receivers",
  silencesMs: "/silences",
} as const;
// Processor time is counted in ticks of 10 ms.
const times = 100;
const openPages = 100;
// As the pages have it.
const refreshMs = 3 * secondMs;
// The first runs, the first notifications and what follows them are over.
const settleMs = minuteMs;

/** Processor time for each page, for an unchanged one, for the first after a change, and for a hundred open ones. */
const fleet: Side = {
  name: "flatline",
  start: (quick) =>
    Promise.resolve(async (): Promise<Readings> => {
      await using own = new AsyncDisposableStack();
      const slugs = Array.from({ length: quick ? 20 : organizations }, (_, index) => slugOf(index));
      const config = `source: { type: embedded }
defaults: { schedule: "0 0 1 1 *" }
organizations: [${slugs.join(", ")}]`;
      const prepare = (folder: string): Promise<void> =>
        fillStore({ path: join(folder, "flatline.db") }, slugs, slugs.slice(0, quick ? 10 : spikingOnes));
      const { pid, url } = await startDaemon({ config, server: `token: ${token}`, prepare }, own);
      const ask = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
        const answer = await fetch(`${url}${path}`, {
          headers: { authorization: `Bearer ${token}`, accept: "text/html", ...headers },
        });
        await answer.text();
        if (!answer.ok && answer.status !== 304) throw new Error(`${path}: ${answer.status}`);
        return answer.headers.get("etag") ?? "";
      };
      await eventually(async () => ask("/incidents/1"), 5 * minuteMs);
      await clock.sleep(quick ? secondMs : settleMs);
      const turns = quick ? 2 : times;
      const perTurn = async (work: () => Promise<unknown>): Promise<number> => {
        await work();
        const before = usageOf(pid).cpuSeconds;
        for (let turn = 0; turn < turns; turn++) await work();
        return ((usageOf(pid).cpuSeconds - before) * secondMs) / turns;
      };
      const change = async (): Promise<void> => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const answer = await fetch(`${url}/api/v1/markers`, { method: "POST", headers, body: '{"text":"a change"}' });
        await answer.text();
        if (!answer.ok) throw new Error(`a change: ${answer.status}`);
      };
      const readings: Record<string, number> = {};
      for (const [name, path] of Object.entries(pages)) readings[name] = await perTurn(() => ask(path));
      const tag = await ask("/");
      readings["unchangedMs"] = await perTurn(() => ask("/", { "if-none-match": tag }));
      const changeMs = await perTurn(change);
      readings["changedMs"] = (await perTurn(() => change().then(() => ask("/")))) - changeMs;
      const durationMs = quick ? secondMs : minuteMs;
      const share = async (work: (endMs: number) => Promise<unknown>): Promise<number> => {
        const [before, fromMs] = [usageOf(pid).cpuSeconds, clock.nowMs()];
        await work(fromMs + durationMs);
        return ((usageOf(pid).cpuSeconds - before) * secondMs) / (clock.nowMs() - fromMs);
      };
      const idleShare = await share(() => clock.sleep(durationMs));
      const openShare = (await share(await openAll(ask))) - idleShare;
      const changes = await openAll(ask, change);
      const changingShare = (await share(changes)) - idleShare - changeMs / secondMs;
      return { ...readings, idleShare, openShare, changingShare };
    }),
};

/** Opens a hundred pages; returns what keeps them open, with a change each second if there is one. */
async function openAll(
  ask: (path: string, headers: Readonly<Record<string, string>>) => Promise<string>,
  change?: () => Promise<void>,
): Promise<(endMs: number) => Promise<void>> {
  const paths = Object.values(pages);
  const asked = Array.from({ length: openPages }, (_, index) => paths[index % paths.length] ?? "/");
  const tags = await Promise.all(asked.map((path) => ask(path, { "hx-request": "true" })));
  return async (endMs) => {
    const keepOpen = async (path: string, index: number): Promise<void> => {
      await clock.sleep((index * refreshMs) / openPages);
      for (let tag = tags[index] ?? ""; clock.nowMs() < endMs; await clock.sleep(refreshMs))
        tag = await ask(path, { "hx-request": "true", "if-none-match": tag });
    };
    const all = asked.map(keepOpen);
    if (change !== undefined) for (; clock.nowMs() < endMs; await clock.sleep(secondMs)) await change();
    await Promise.all(all);
  };
}

const mostMs = (metric: string, title: string, goal: number) => ({ title, metric, bound: "at most", goal }) as const;

/** The cost of pages. There is no peer: the goals are times. */
export const benchmark: Benchmark = {
  name: "pages",
  title: "Processor time of a page with 10,000 organizations, 3,000 of which fire",
  metrics: [
    ...Object.entries(pages).map(([name, path]) => ({ name, title: path, unit: "ms", better: "less" as const })),
    { name: "unchangedMs", title: "unchanged", unit: "ms", better: "less" },
    { name: "changedMs", title: "/ after a change", unit: "ms", better: "less" },
    { name: "idleShare", title: "nothing open, of a core", unit: "", better: "less" },
    { name: "openShare", title: "100 open pages more, of a core", unit: "", better: "less" },
    { name: "changingShare", title: "the same, a change each second", unit: "", better: "less" },
  ],
  sides: [fleet],
  repetitions: 1,
  goals: [
    ...Object.entries(pages).map(([name, path]) => mostMs(name, `${path}, ms`, 50)),
    mostMs("unchangedMs", "an unchanged page, ms", 1),
    mostMs("openShare", "100 open pages that nothing changes, share of a core", 0.03),
    mostMs("changingShare", "100 open pages while something changes each second, share of a core", 0.25),
  ],
};
