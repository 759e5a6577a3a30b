import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { startHttpSink, type HttpSink } from "../../test/support/far-side/http-sink.ts";
import { firingAlert, openIncident } from "../../test/support/firing-alert.ts";
import { urlsOf } from "../../test/support/night-of-deaths.ts";
import { storeEngines, type OpenedStore, type StoreEngineCase } from "../../test/support/store/engines.ts";
import { death } from "../../test/support/store/event-store.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { createSilentLogger } from "../base/logger.ts";
import { Secret } from "../base/secret.ts";
import { createSystemClock, dayMs, hourMs, minuteMs, secondMs, type Clock } from "../base/time.ts";
import { createLookAssets } from "../daemon/evidence/look-assets.ts";
import { opinionWords } from "../contract/second-opinion.ts";
import { createWebhookSigner } from "../receivers/webhook/webhook.ts";
import type { Incident, SecondOpinion } from "../store/alerts/incidents.ts";
import type { LookedAt } from "../store/alerts/looks.ts";
import { createLooks, type Looks, type LookSettings } from "./looks.ts";

const system = createSystemClock();
const nowMs = Date.UTC(2026, 5, 1, 12);
let openTemporary: StoreEngineCase["openTemporary"];
let opened: OpenedStore;
let looks: Looks | null = null;
let verifier: HttpSink | null = null;
let offsetMs = 0;
const dispatcher = createHttpDispatcher({ env: {} });

/** Real time, but waits take a millisecond at most, and the test can set the time. */
const clock: Clock = {
  ...system,
  nowMs: () => nowMs + offsetMs,
  monotonicMs: () => 1_000 * system.monotonicMs(),
  sleep: (ms, signal) => system.sleep(Math.min(ms, 1), signal),
};

type Hosts = Readonly<Record<string, number>>;

const eventOf = (asset: string, atMs: number, status = "DETECTED_AS_DEAD") =>
  death(atMs, "acme", { asset, assetType: "URL", status });
const allUrlsOf = (hosts: Hosts): string[] => Object.entries(hosts).flatMap(([prefix, count]) => urlsOf(prefix, count));

/** An incident of acme that began an hour ago; an asset's name says whether it answers (`up`) or is gone (`no`). */
async function anIncident(
  {
    dead = {},
    alive = { upalive: 20 },
    longDead = { nolong: 20 },
  }: Partial<Record<"dead" | "alive" | "longDead", Hosts>>,
  more: readonly string[] = [],
): Promise<Incident> {
  const { store } = opened;
  const startedAtMs = nowMs - hourMs;
  await store.events.add([
    ...allUrlsOf(longDead).map((asset) => eventOf(asset, nowMs - 15 * dayMs)),
    ...allUrlsOf(alive).map((asset) => eventOf(asset, nowMs - 2 * hourMs, "DETECTED_AS_ALIVE")),
    ...[...allUrlsOf(dead), ...more].map((asset) => eventOf(asset, startedAtMs - minuteMs)),
  ]);
  const { number: _given, ...begun } = openIncident(startedAtMs);
  const { secondOpinion: _none, ...incident } = await store.incidents.add(begun);
  await store.alerts.save(
    firingAlert("a", startedAtMs, { windowHours: 24, incident: { id: incident.id, number: incident.number } }),
  );
  return { ...incident, secondOpinion: null };
}

type Answer = (asset: string) => unknown;

/** A verifier: `up` answers, everything else is gone. */
async function startVerifier(answer: Answer = (asset) => (asset.includes("//up") ? "answers" : "gone")): Promise<void> {
  verifier = await startHttpSink((response, request) => {
    const { assets } = JSON.parse(request.body) as { readonly assets: readonly { readonly asset: string }[] };
    const results = assets.map(({ asset }) => ({ asset, answer: answer(asset), detail: `a page\u0000of ${asset}` }));
    response.end(JSON.stringify({ results }));
  });
}

function looksWith(given: Partial<LookSettings> = {}): Looks {
  const { store } = opened;
  const settings: LookSettings = {
    sample: 20,
    control: 20,
    againMs: hourMs,
    verifier: {
      url: new Secret(verifier?.url ?? "http://127.0.0.1:1"),
      timeoutMs: 10_000,
      sign: createWebhookSigner([new Secret("a-secret-of-the-tests")]),
    },
    sentinelsOf: () => [],
    ...given,
  };
  looks = createLooks({
    store,
    clock,
    logger: createSilentLogger(),
    dispatcher,
    metrics: { assetLookedAt: () => undefined, opinionGiven: () => undefined },
    newId: () => "the-question",
    settings: () => settings,
    sources: createLookAssets({ store, clock }),
    onChange: () => undefined,
  });
  return looks;
}

async function opinionOf(incident: Incident, look = 1): Promise<SecondOpinion> {
  const found = async (): Promise<SecondOpinion | null> =>
    (await opened.store.incidents.find(incident.number))?.secondOpinion ?? null;
  await expect.poll(async () => (await found())?.look).toBe(look);
  const opinion = await found();
  if (opinion === null) throw new Error("there is none");
  return opinion;
}

const answersOf = (incident: Incident, number = 1): Promise<readonly LookedAt[]> =>
  opened.store.looks.answersOf({ incidentNumber: incident.number, number });

describe.each(storeEngines)("on $engine,", (engine) => {
  beforeEach(async () => {
    ({ openTemporary } = engine);
    offsetMs = 0;
    opened = await openTemporary(clock);
  });
  afterEach(async () => {
    await looks?.stop();
    await verifier?.close();
    await opened.close();
    [looks, verifier] = [null, null];
  });

  it("an incident gets the opinion that its deaths are not true, with what each asset says", async () => {
    await startVerifier();
    const incident = await anIncident({ dead: { updead: 16, nodead: 4 } });
    looksWith().start();

    expect(await opinionOf(incident)).toMatchObject({
      asked: 20,
      alive: 16,
      gone: 4,
      verdict: "refuted",
      controls: { alive: { asked: 20, alive: 20 }, dead: { asked: 20, alive: 0 } },
    });
    const answers = await answersOf(incident);
    expect(
      Object.entries(Object.groupBy(answers, ({ role, answer }) => `${role} ${answer}`))
        .map(([key, some]) => `${key} ${some?.length}`)
        .toSorted(),
    ).toStrictEqual(["alive answers 20", "dead gone 20", "sample answers 16", "sample gone 4"]);
    expect(answers.find(({ asset }) => asset === "https://updead3.example/")).toStrictEqual({
      slug: "acme",
      asset: "https://updead3.example/",
      assetType: "URL",
      role: "sample",
      answer: "answers",
      detail: "a page of https://updead3.example/",
    });
    expect(verifier?.requests).toHaveLength(1);
    // The controls are mixed with the others.
    expect(new Set(answers.slice(0, 20).map(({ role }) => role)).size).toBe(3);
  });

  it("controls are found behind those that died in the incident and were found alive since", async () => {
    await startVerifier();
    const incident = await anIncident({ dead: { updead: 12, uprevived: 22 } });
    const revived = allUrlsOf({ uprevived: 22 });
    const found = (asset: string, ago: number) => eventOf(asset, nowMs - minuteMs - ago, "DETECTED_AS_ALIVE");
    await opened.store.events.add([
      ...revived.map((asset) => found(asset, 0)),
      ...Array.from({ length: 600 }, (_, ago) => found("https://uprevived0.example/", ago)),
    ]);
    looksWith().start();

    expect(await opinionOf(incident)).toMatchObject({
      asked: 12,
      controls: { alive: { asked: 20, alive: 20 }, dead: { asked: 20, alive: 0 } },
    });
  });

  it("the verifier is asked once, signed, and never about what may name a victim", async () => {
    await startVerifier();
    const personal = ["https://a.example/?m=b@example.org", `https://a.example/${"a/".repeat(1_100)}`];
    const incident = await anIncident({ dead: { updead: 3 }, alive: { upalive: 2 }, longDead: {} }, personal);
    looksWith().start();

    expect(await opinionOf(incident)).toMatchObject({ asked: 3, alive: 3, verdict: "undecided" });
    expect(verifier?.requests).toHaveLength(1);
    const [request] = verifier?.requests ?? [];
    expect(request?.headers).toMatchObject({
      "webhook-id": "the-question",
      "webhook-signature": expect.stringMatching(/^v1,/),
    });
    const { incidentId, assets } = JSON.parse(request?.body ?? "") as {
      readonly incidentId: string;
      readonly assets: readonly { readonly asset: string; readonly assetType: string | null }[];
    };
    expect(incidentId).toBe("the-incident");
    expect(assets.toSorted((left, right) => left.asset.localeCompare(right.asset))).toStrictEqual(
      ["upalive0", "upalive1", "updead0", "updead1", "updead2"].map((host) => ({
        asset: `https://${host}.example/`,
        assetType: "URL",
      })),
    );
  });

  it("sentinels stand in for living controls that are too few, and no asset is asked about twice", async () => {
    await startVerifier();
    const incident = await anIncident({ dead: { updead: 3 }, alive: { upalive: 2 }, longDead: {} });
    const sentinels = ["https://upalive1.example/", "https://updead1.example/", "https://upown.example/"];
    looksWith({ control: 4, sentinelsOf: () => sentinels }).start();

    expect(await opinionOf(incident)).toMatchObject({ asked: 3, controls: { alive: { asked: 3, alive: 3 } } });
    const answers = await answersOf(incident);
    expect(answers.filter(({ role }) => role === "alive").map(({ asset }) => asset)).toContain(
      "https://upown.example/",
    );
    expect(new Set(answers.map(({ asset }) => asset)).size).toBe(answers.length);
  });

  it("it looks again twice, an interval apart, each time at others", async () => {
    await startVerifier();
    const incident = await anIncident({ dead: { updead: 100 }, alive: {}, longDead: {} });
    looksWith({ sample: 5, againMs: 30 * minuteMs }).start();
    const drawn = async (look: number): Promise<string[]> => {
      await opinionOf(incident, look);
      return (await answersOf(incident, look)).map(({ asset }) => asset);
    };

    const first = await drawn(1);
    offsetMs += 30 * minuteMs;
    const second = await drawn(2);
    offsetMs += 30 * minuteMs;
    await drawn(3);
    offsetMs += 5 * hourMs;
    await system.sleep(50);

    expect(second).toHaveLength(5);
    expect(second).not.toStrictEqual(first);
    expect(await opened.store.looks.of(incident.number)).toHaveLength(3);
  });

  it("each question is about all members of its instant, by their excess, with controls of theirs", async () => {
    await startVerifier();
    const incident = await anIncident({ dead: { nodead: 30 } });
    looksWith().start();
    expect(await opinionOf(incident)).toMatchObject({ asked: 20, gone: 20, verdict: "confirmed" });
    const { store } = opened;
    const joined = firingAlert("b", nowMs, {
      slug: "globex",
      windowHours: 24,
      incident: { id: incident.id, number: incident.number },
      found: { deaths: { count: 60, expected: 1 }, carriers: [], revived: null, cause: null, error: null },
    });
    await store.alerts.save(joined);
    const ofGlobex = (asset: string, ago: number) => ({ ...eventOf(asset, nowMs - ago), slug: "globex" });
    await store.events.add([
      ...allUrlsOf({ upother: 60 }).map((asset) => ofGlobex(asset, minuteMs)),
      ...allUrlsOf({ noold: 30 }).map((asset) => ofGlobex(asset, 40 * dayMs)),
    ]);

    offsetMs += hourMs;
    const opinion = await opinionOf(incident, 2);
    const answers = await answersOf(incident, 2);

    expect(opinion).toMatchObject({ asked: 20, verdict: "refuted", controls: { dead: { asked: 20, alive: 0 } } });
    const slugsOf = (role: string) => new Set(answers.flatMap((one) => (one.role === role ? [one.slug] : [])));
    expect(slugsOf("sample")).toContain("globex");
    expect(slugsOf("alive")).toStrictEqual(new Set(["acme"]));
    expect(slugsOf("dead")).toStrictEqual(new Set(["globex"]));
  });

  it("a person may ask for a look, once a minute, also when it has ended", async () => {
    await startVerifier();
    const incident = await anIncident({ dead: { updead: 30 }, alive: {}, longDead: {} });
    await opened.store.incidents.save({ ...incident, endedAtMs: nowMs });
    const own = looksWith({ sample: 10 });
    own.start();

    expect(await own.ask(incident)).toMatchObject({ number: 1, isByHand: true });
    await expect(own.ask(incident)).rejects.toMatchObject({ code: "too_many", httpStatus: 429 });
    await opinionOf(incident);
    offsetMs += 59 * secondMs;
    await expect(own.ask(incident)).rejects.toMatchObject({ code: "too_many" });
    offsetMs += 2 * secondMs;
    await own.ask(incident);

    expect(await opinionOf(incident, 2)).toMatchObject({ asked: 10 });
    await expect(own.ask({ ...incident, family: "regret" })).rejects.toMatchObject({ code: "usage" });
  });

  it("a look whose process is over is made by the next one, under its number", async () => {
    await startVerifier();
    const incident = await anIncident({ dead: { updead: 30 }, alive: {}, longDead: {} });
    const { store } = opened;
    await store.looks.begin({ incidentNumber: incident.number, number: 1, startedAtMs: nowMs, isByHand: false });
    looksWith().start();

    expect(await opinionOf(incident)).toMatchObject({ asked: 20, look: 1 });
    expect(await store.looks.of(incident.number)).toMatchObject([{ number: 1, endedAtMs: nowMs }]);
  });

  it.each<[string, string, Parameters<typeof startHttpSink>[0]]>([
    ["an answer of another form", "no_answer", (response) => response.end('{ "results": "none" }')],
    ["an answer with an error", "no_answer", (response) => response.writeHead(500).end('{ "results": [] }')],
    ["an answer without end", "no_answer", (response) => response.end(" ".repeat(2 ** 20 + 1))],
    ["no answer in time", "no_answer", () => undefined],
    ["nobody listening", "no_answer", (response) => response.destroy()],
    [
      "an answer about others",
      "controls",
      (response) => response.end('{ "results": [{ "asset": "https://other.example/", "answer": "answers" }] }'),
    ],
  ])("a verifier with %s decides nothing, and is said to fail", async (_, failure, respond) => {
    verifier = await startHttpSink(respond);
    const incident = await anIncident({ dead: { dead: 12 }, alive: { live: 10 }, longDead: {} });
    const url = new Secret(verifier.url);
    looksWith({ verifier: { url, timeoutMs: failure === "controls" ? 10_000 : 100, sign: () => ({}) } }).start();

    expect(await opinionOf(incident)).toMatchObject({ asked: 12, alive: 0, gone: 0, verdict: "undecided", failure });
  });

  it("an unknown word decides nothing", async () => {
    await startVerifier((asset) => (asset.includes("//up") ? "answers" : "sleeping"));
    const incident = await anIncident({ dead: { updead: 2, nodead: 10 }, alive: {}, longDead: {} });
    looksWith().start();

    expect(await opinionOf(incident)).toMatchObject({ asked: 12, alive: 2, gone: 0, verdict: "undecided" });
  });

  it("answers may be those of a file: nobody is asked, and the opinion says so", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "flatline-recorded-"));
    const file = join(folder.path, "answers.json.gz");
    const results = allUrlsOf({ dead: 14 }).map((asset) => ({ asset, answer: "answers" }));
    await writeFile(file, gzipSync(JSON.stringify({ results })));
    const incident = await anIncident({ dead: { dead: 14, none: 6 }, alive: {}, longDead: {} });
    looksWith({ verifier: { file } }).start();

    const opinion = await opinionOf(incident);

    expect(opinion).toMatchObject({ asked: 20, alive: 14, gone: 0, verdict: "refuted", isRecorded: true });
    expect(opinionWords(opinion)).toBe("14 of 20 still answer (by recorded answers)");
  });
});
