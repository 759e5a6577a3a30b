import { afterEach, beforeEach, expect, it } from "vitest";

import { createSystemClock, secondMs } from "../../../src/base/time.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon, type Daemon } from "../../support/program/program.ts";

const organizations = 10_000;
const changing = organizations / 20;
const changes = 9;
const changeEveryMs = 10 * secondMs;
const checkEveryMs = 60 * secondMs;
const patienceMs = 120 * secondMs;
const clock = createSystemClock();

/** The platform, and the service that lists its customers. */
let upstream: ScriptedUpstream;
let folder: ProgramFolder;
let change: number;
/** When the platform was asked about each organization. */
let asks: Map<string, number[]>;

function listAt(number: number): string[] {
  return Array.from({ length: organizations }, (_, index) =>
    index < organizations - changing ? `stays-${index}` : `change-${number}-${index}`,
  );
}

const isAsked = (slugs: readonly string[], sinceMs = 0): boolean =>
  slugs.every((slug) => (asks.get(slug)?.at(-1) ?? -1) >= sinceMs);

beforeEach(async () => {
  change = 0;
  asks = new Map();
  upstream = await startScriptedUpstream();
  upstream.otherwise(({ method, body, headers }) => {
    if (method === "GET") {
      const etag = `"${change}"`;
      if (headers["if-none-match"] === etag) return { kind: "answer", status: 304 };
      return { kind: "answer", body: listAt(change), headers: { etag } };
    }
    const { slug } = JSON.parse(body) as { slug: string };
    asks.set(slug, [...(asks.get(slug) ?? []), clock.nowMs()]);
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug } }) };
  });
  folder = await makeProgramFolder();
});
afterEach(async () => {
  await upstream.close();
  await folder[Symbol.asyncDispose]();
});

async function start(schedule: string, refreshIntervalMs: number): Promise<Daemon> {
  await folder.write(
    "flatline.yaml",
    `
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
discover:
  - { name: crm, url: "${upstream.origin}/customers", refreshInterval: ${refreshIntervalMs}ms, organization: { schedule: "${schedule}" } }
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`,
  );
  const daemon = await startDaemon([], { cwd: folder.path });
  await eventually(() => isAsked(listAt(0)), patienceMs);
  return daemon;
}

async function valueOf(daemon: Daemon, series: string): Promise<number> {
  const line = (await readText(`${daemon.url}/metrics`)).split("\n").find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

it(`loses no check of ${organizations} organizations, and keeps its memory, while a list changes every ${changeEveryMs / secondMs} s`, async () => {
  await using daemon = await start("* * * * *", changeEveryMs);
  const stays = listAt(0).slice(0, organizations - changing);
  const beganAtMs = clock.nowMs();
  const residentBytes: number[] = [];

  while (change < changes) {
    const changedAtMs = clock.nowMs();
    change++;
    await eventually(() => isAsked(listAt(change).slice(-changing)), patienceMs);
    residentBytes.push(await valueOf(daemon, "process_resident_memory_bytes"));
    await clock.sleep(changedAtMs + changeEveryMs - clock.nowMs());
  }
  const lastTickMs = Math.floor(clock.nowMs() / checkEveryMs) * checkEveryMs;
  await eventually(() => isAsked(stays, lastTickMs), patienceMs);

  const ticks: number[] = [];
  for (let tickMs = lastTickMs; tickMs > beganAtMs; tickMs -= checkEveryMs) ticks.push(tickMs);
  const lost = stays.flatMap((slug) =>
    ticks
      .filter((tickMs) => asks.get(slug)?.some((atMs) => atMs >= tickMs && atMs < tickMs + checkEveryMs) !== true)
      .map((tickMs) => `${slug} at ${new Date(tickMs).toISOString()}`),
  );
  expect(ticks.length).toBeGreaterThan(0);
  expect(lost).toEqual([]);
  expect(await valueOf(daemon, 'flatline_discovered_organizations{source="crm"}')).toBe(organizations);
  const [early = 0, late = 0] = [residentBytes.slice(3, 6), residentBytes.slice(-3)].map((some) => Math.min(...some));
  expect(late - early).toBeLessThan(64 * 1_024 ** 2);
}, 600_000);
