import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createSystemClock, dayMs, hourMs, minuteMs, secondMs } from "../../../src/base/time.ts";
import { flawsAtAllWidths, useBrowser } from "../../support/browser.ts";
import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { listAlerts, makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const clock = createSystemClock();
const token = "let-me-in-of-the-tests";
const bearer = { authorization: `Bearer ${token}` };
const server = `server: { listen: "127.0.0.1:0", tokens: [{ name: dana, token: ${token}, may: [read, operate, gate, ingest, admin] }] }
storage: { path: flatline.db }`;
// It has no place to break.
const long = "organization".repeat(5);
const rows = Array.from({ length: 60 }, (_, index) => `broken-${String(index).padStart(2, "0")}`);

/** A state that a page can be in: where it is shown, and what only a page in this state says. */
type State = readonly [name: string, path: string, says: RegExp];

/** A daemon whose pages are in some of the states. */
interface World {
  readonly name: string;
  readonly states: readonly State[];
  readonly start: (folder: DaemonFolder) => Promise<Started>;
}

interface Started {
  readonly url: string;
  /** Closes what it needs. */
  readonly close?: () => Promise<void>;
  /** The number of its incident of many, which stands for MANY in paths. */
  readonly many?: number;
}

async function startDaemon(folder: DaemonFolder, configuration: string): Promise<string> {
  await folder.configure(`${configuration}\n${server}`);
  return (await folder.start()).address()?.url ?? "";
}

async function post(url: string, body: unknown = {}, type = "application/json"): Promise<void> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(url, { method: "POST", headers: { ...bearer, "content-type": type }, body: text });
  expect([url, answer.ok]).toEqual([url, true]);
}

const runSpike = (url: string, slug: string): Promise<void> =>
  post(`${url}/api/v1/checks/dead-asset-spike/${slug}/run`);

async function untilFiring(url: string, count: number): Promise<void> {
  await eventually(
    async () => (await listAlerts(url, token)).filter(({ state }) => state === "firing").length >= count,
  );
}

const empty: World = {
  name: "without organizations",
  start: async (folder) => ({ url: await startDaemon(folder, "source: { type: embedded }\norganizations: []") }),
  states: [
    ["nothing to watch", "/", /No organization is watched yet/],
    ["no incident", "/incidents", /No incident/],
    ["no receiver", "/receivers", /No receiver is configured/],
    ["nothing but defaults", "/config", /The configuration that is applied/],
    ["no such incident", "/incidents/7", /There is no such incident/],
    ["the documentation", "/docs", /Runbooks/],
  ],
};

const eventless: World = {
  name: "organizations that sent no event yet",
  start: async (folder) => {
    const of = `defaults: { schedule: "0 0 1 1 *", eventFlow: { enabled: true, schedule: "0 0 1 1 *" } }\norganizations: [acme, ${long}]`;
    const url = await startDaemon(folder, `source: { type: embedded }\n${of}`);
    for (const slug of ["acme", long]) await runSpike(url, slug);
    return { url };
  },
  states: [
    ["no event yet", "/", /^2 organizations have sent no event yet\./],
    [
      "how the first comes in",
      "/o/acme",
      /No event of acme has come yet\. Run .* --set 'slug=acme' curl .*"slug":"acme"/,
    ],
    ["the same, of a long name", `/o/${long}`, /has come yet/],
  ],
};

const firstMinute: World = {
  name: "a platform that has not answered yet",
  start: async (folder) => {
    const upstream = await startScriptedUpstream();
    upstream.otherwise(() => ({ kind: "hang" }));
    const url = await startDaemon(
      folder,
      `source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }\norganizations: [acme, globex]`,
    );
    return { url, close: () => upstream.close() };
  },
  states: [
    ["the first minute", "/", /2 organizations wait for the first run/],
    ["the first minute of one", "/o/acme", /acme is checked for the first time just now/],
  ],
};

const unreachable: World = {
  name: "a platform that cannot be asked",
  start: async (folder) => {
    const upstream = await startScriptedUpstream();
    const message = "upstream connect error, ".repeat(20);
    upstream.otherwise(() => ({ kind: "answer", status: 503, body: { message, code: "X" } }));
    const url = await startDaemon(
      folder,
      `
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key, retries: 0 }
defaults: { schedule: "0 0 1 1 *", alert: { unknownAfter: 1 } }
organizations: [acme, globex, initech, umbrella]
alerting: { groupWait: 100ms }`,
    );
    await untilFiring(url, 4);
    return { url, close: () => upstream.close() };
  },
  states: [
    ["unreachable", "/", /has answered 503 since/],
    [
      "an incident of what is unreachable",
      "/incidents/1",
      /^(?!.*(?:Ratio|Found alive)).*none of the 4 organizations is checked.*What does it say\? 503 The service/s,
    ],
    [
      "one that is unreachable",
      "/o/acme",
      /acme could not be checked since [^:]+:\d\d\. .*The error: the service answered 503/,
    ],
  ],
};

const death = { assetType: "URL", asset: null, status: "DETECTED_AS_DEAD", id: null };

const assetOf = (index: number): string => `https://login-${index}.example/${"path".repeat(5 * (index % 10))}`;

/** Eight calm days, and half an hour in which everything dies. */
function eventsOf(slug: string, nowMs: number, fromHour: number): string {
  const line = (atMs: number, asset: string): string =>
    JSON.stringify({
      at: new Date(atMs).toISOString(),
      slug,
      assetType: "URL",
      asset,
      status: "DETECTED_AS_DEAD",
      attributes: { reason: "captcha_page" },
    });
  return [
    ...Array.from({ length: Math.ceil(fromHour / 6) }, (_, index) =>
      line(nowMs - (fromHour - 6 * index) * hourMs, `https://calm-${index}.example/${slug}`),
    ),
    ...Array.from({ length: 130 }, (_, index) => line(nowMs - hourMs / 2 - index * secondMs, assetOf(index))),
  ].join("\n");
}

const fleet: World = {
  name: "a fleet in every state",
  start: async (folder) => {
    const gone = await startHttpSink((response) => response.writeHead(410).end());
    const nowMs = clock.nowMs();
    const asset = { id: 501, type: "URL", content: `https://login.example/${"path/".repeat(40)}`, status: "UNKNOWN" };
    const proposal = { id: 301, assetId: 501, decision: null, decidedBy: null, queue: "queued", resolved: false };
    const reported = {
      id: 9_001,
      organization: "calm",
      createdAt: new Date(nowMs - 30 * hourMs).toISOString(),
      status: "TODO",
      source: "API",
      title: `A login page imitates ${long}`,
      reporter: { kind: "human", name: "Kim", organization: null },
      proposals: [proposal],
      scans: [],
    };
    const organizations = [{ slug: "calm", name: "calm", brands: [] }];
    await writeFile(
      join(folder.path, "fixture.yaml"),
      JSON.stringify({ organizations, assets: [asset], reports: [reported] }),
    );
    await folder.withStore((store) =>
      store.transaction(({ events }) =>
        events.add(
          ["over", "calm", "silenced", ...rows].flatMap((slug) => [
            ...[1, 3, 5].map((day) => ({ ...death, slug, atMs: nowMs - (day + 1) * dayMs, count: 8 })),
            { ...death, slug, atMs: nowMs - minuteMs, count: slug === "calm" ? 2 : 60 },
          ]),
        ),
      ),
    );
    // Addresses and answers as long as a page of others can make them.
    const results = Array.from({ length: 130 }, (_, index) => ({
      asset: assetOf(index),
      assetType: "URL",
      answer: index % 2 === 0 ? "answers" : "gone",
      detail: `HTTP 200, ${long}`,
    }));
    await writeFile(join(folder.path, "opinion.json"), JSON.stringify({ results }));
    const configuration = (failMultiplier: number, more: readonly string[]): string => `
source: { type: embedded, concurrency: 64, preload: [{ fixture: fixture.yaml }] }
secondOpinion: { verifier: { file: opinion.json } }
defaults: { schedule: "0 0 1 1 *", receivers: [ops, gone, { name: lead, after: 30m }] }
organizations:
  - { slug: over, thresholds: { failMultiplier: ${failMultiplier}, warnMultiplier: ${failMultiplier} } }
  - { slug: calm, reviewQueue: { enabled: true, schedule: "0 0 1 1 *", warnAfter: 240h, failAfter: 480h } }
${more.map((one) => `  - ${one}`).join("\n")}
alerting: { groupWait: 100ms, groupInterval: 1s }
receivers: [{ name: ops, type: log }, { name: lead, type: log }, { name: gone, type: webhook, url: "${gone.url}" }]`;
    // What is over began alone, and has ended before all others begin.
    const url = await startDaemon(folder, configuration(4, []));
    await untilFiring(url, 1);
    await folder.configure(`${configuration(1_000, [])}\n${server}`);
    await post(`${url}/-/reload`);
    await runSpike(url, "over");
    const all = [
      `{ slug: ${long}, labels: { team: trust-and-safety-of-europe } }`,
      "young",
      "unknown",
      "silenced",
      ...rows,
    ];
    await folder.configure(`${configuration(1_000, all)}\n${server}`);
    for (const [slug, fromHour] of [
      [long, 200],
      ["young", 3],
    ] as const)
      await post(`${url}/api/v1/events`, eventsOf(slug, nowMs, fromHour), "application/x-ndjson");
    const endsAt = new Date(nowMs + dayMs).toISOString();
    for (const slug of ["silenced", "nobody-*", long])
      await post(`${url}/api/v1/silences`, { slug: slug === long ? `${long}-*` : slug, endsAt, comment: "a move" });
    await post(`${url}/-/reload`);
    await untilFiring(url, rows.length + 2);
    for (let run = 0; run < 3; run++) await runSpike(url, "unknown");
    await post(`${url}/api/v1/markers`, { text: `a roll-out of ${long}` });
    const answer = await fetch(`${url}/api/v1/incidents`, { headers: bearer });
    const { incidents } = (await answer.json()) as { incidents: { number: number; firing: number }[] };
    const many = incidents.find(({ firing }) => firing >= rows.length)?.number ?? 0;
    await post(`${url}/api/v1/incidents/${many}/ack`);
    await eventually(async () => {
      const incident = await fetch(`${url}/api/v1/incidents/${many}`, { headers: bearer });
      return ((await incident.json()) as { secondOpinion: object | null }).secondOpinion !== null;
    });
    return { url, close: () => gone.close(), many };
  },
  states: [
    ["an incident of 60", "/", /organizations spike since/],
    ["an incident of 60, all of its rows", "/incidents/MANY?show=all", /What each of the \d+ said/],
    ["an incident that has ended, its gate held", "/incidents/1", /Is it over\? Yes, since/],
    ["an incident of 60, a row beyond the first that is ticked", "/incidents/MANY?slug=broken-59", /broken-59/],
    ["judging 60", "/incidents/MANY/judge", /What was it, in/],
    ["releasing 60", "/incidents/MANY/release", /to release so many/],
    ["one that spikes, with a very long name", `/o/${long}`, /It began with/],
    ["one of which an hour is known", "/o/young", /What is usual cannot be said/],
    ["one that is unknown", "/o/unknown", /No event of unknown has come yet/],
    ["one whose gate is held", "/o/over", /Its takedowns are on hold since/],
    ["silences", "/silences", /hold back/],
    ["silencing 60 by a pattern", "/silences/new?slug=broken-*", /Silence which organization/],
    ["a receiver that gave up, one never tried", "/receivers", /gave up/],
  ],
};

const browser = useBrowser();

beforeAll(async () => {});

describe.each([empty, eventless, firstMinute, unreachable, fleet])("$name", ({ start, states }) => {
  let folder: DaemonFolder;
  let world: Started;

  beforeAll(async () => {
    folder = await makeDaemonFolder();
    world = await start(folder);
  });

  afterAll(async () => {
    await folder?.close();
    await world?.close?.();
  });

  it.each(states)("fits every width: %s, at %s", { timeout: 5 * minuteMs }, async (_name, path, says) => {
    const page = await browser.open(world.url + path.replace("MANY", String(world.many)), { extraHTTPHeaders: bearer });

    expect((await page.locator("main").innerText()).replaceAll(/[\s\u00a0]+/g, " ")).toMatch(says);
    expect(await page.locator("h1").count()).toBeLessThan(2);
    expect(await flawsAtAllWidths(page)).toEqual([]);
    await page.context().close();
    browser.forgive(0);
  });
});
