import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { startHttpSink, type HttpSink } from "../../test/support/far-side/http-sink.ts";
import { firingAlert, openIncident } from "../../test/support/firing-alert.ts";
import { freePort } from "../../test/support/free-port.ts";
import { startLookWorld, type LookWorld } from "../../test/support/look/look-world.ts";
import { storeEngines, type OpenedStore, type StoreEngineCase } from "../../test/support/store/engines.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { createSilentLogger } from "../base/logger.ts";
import { Secret } from "../base/secret.ts";
import { createSystemClock, dayMs, hourMs, minuteMs, secondMs, type Clock } from "../base/time.ts";
import { createAlertAssets } from "../daemon/evidence/alert-assets.ts";
import { opinionWords } from "../contract/second-opinion.ts";
import { createWebhookSigner } from "../receivers/webhook/signature.ts";
import type { Incident, SecondOpinion } from "../store/alerts/incidents.ts";
import type { LookedAt } from "../store/alerts/looks.ts";
import { createLooks, type Looks } from "./looks.ts";
import type { LookSettings } from "./settings.ts";

const system = createSystemClock();
const nowMs = Date.UTC(2026, 5, 1, 12);
let openTemporary: StoreEngineCase["openTemporary"];
let opened: OpenedStore;
let world: LookWorld | null = null;
let looks: Looks | null = null;
let verifier: HttpSink | null = null;
let offsetMs = 0;
let slept: number[] = [];
const dispatcher = createHttpDispatcher({ env: {} });

/** Real time, but that nobody waits for anything longer than a millisecond, and that the test can move on. */
const clock: Clock = {
  ...system,
  nowMs: () => nowMs + offsetMs,
  monotonicMs: () => 1_000 * system.monotonicMs(),
  sleep: async (ms, signal) => {
    slept.push(ms);
    await system.sleep(Math.min(ms, 1), signal);
  },
};

type Hosts = Readonly<Record<string, number>>;

const eventOf = (asset: string, atMs: number, status = "DETECTED_AS_DEAD", assetType = "URL") => ({
  slug: "acme",
  asset,
  assetType,
  status,
  atMs,
  id: null,
  count: 1,
});
const urlsOf = (hosts: Hosts): string[] =>
  Object.entries(hosts).flatMap(([prefix, count]) =>
    Array.from({ length: count }, (_, index) => `https://${prefix}${index}.example/`),
  );

/** An incident of acme that began an hour ago: hosts by how their names begin, `up` answers, `no` does not exist. */
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
    ...urlsOf(longDead).map((asset) => eventOf(asset, nowMs - 15 * dayMs)),
    ...urlsOf(alive).map((asset) => eventOf(asset, nowMs - 2 * hourMs, "DETECTED_AS_ALIVE")),
    ...[...urlsOf(dead), ...more].map((asset) => eventOf(asset, startedAtMs - minuteMs)),
  ]);
  const { number: _given, ...begun } = openIncident(startedAtMs);
  const { secondOpinion: _none, ...incident } = await store.incidents.add(begun);
  await store.alerts.save(
    firingAlert("a", startedAtMs, { windowHours: 24, incident: { id: incident.id, number: incident.number } }),
  );
  return { ...incident, secondOpinion: null };
}

function looksWith(given: Partial<LookSettings> = {}): Looks {
  const { store } = opened;
  const { http, dnsServers } = world?.settings ?? { http: null, dnsServers: [] };
  const settings: LookSettings = {
    sample: 20,
    control: 20,
    againMs: hourMs,
    dns: { servers: dnsServers },
    http: http === null ? null : { ...http, proxy: new Secret(http.proxy), allow: [] },
    verifier: null,
    recorded: null,
    hosts: [],
    sentinelsOf: () => [],
    ...given,
  };
  const assets = createAlertAssets({ store, clock, isOurs: () => true });
  looks = createLooks({
    store,
    clock,
    logger: createSilentLogger(),
    dispatcher,
    metrics: { assetLookedAt: () => undefined, opinionGiven: () => undefined },
    program: { nodePath: process.execPath, nodeVersion: process.versions.node },
    newId: () => "the-question",
    settings: () => settings,
    diedIn: (alertId) => assets.diedIn(alertId),
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

async function openWorld(): Promise<LookWorld> {
  world = await startLookWorld({ pages: (host) => (host.startsWith("up") ? `<title>${host}</title>` : undefined) });
  return world;
}

describe.each(storeEngines)("on $engine,", (engine) => {
  beforeEach(async () => {
    ({ openTemporary } = engine);
    offsetMs = 0;
    slept = [];
    opened = await openTemporary(clock);
  });
  afterEach(async () => {
    await looks?.stop();
    await world?.[Symbol.asyncDispose]();
    await verifier?.close();
    await opened.close();
    [looks, world, verifier] = [null, null, null];
  });

  it("an incident gets the opinion that its deaths are not true, with what each asset says", async () => {
    await openWorld();
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
      status: 200,
      title: "updead3.example",
      bytes: 30,
      isAsked: true,
    });
    expect(slept.filter((ms) => ms === secondMs)).toHaveLength(59);
    // The controls are among the others.
    expect(new Set(answers.slice(0, 20).map(({ role }) => role)).size).toBe(3);
  });

  it("controls are found behind those that died in the incident and were found alive since", async () => {
    await openWorld();
    const incident = await anIncident({ dead: { updead: 12, uprevived: 22 } });
    const revived = urlsOf({ uprevived: 22 });
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

  it("a day on which they did die is confirmed", async () => {
    await openWorld();
    const incident = await anIncident({ dead: { nodead: 30 } });
    looksWith().start();

    expect(await opinionOf(incident)).toMatchObject({ asked: 20, alive: 0, gone: 20, verdict: "confirmed" });
  });

  it("what may name a victim is asked by DNS alone and does not count", async () => {
    const { proxy } = await openWorld();
    const personal = [
      "https://upp1.example/?m=a@example.org",
      "https://nop2.example/550e8400-e29b-41d4-a716-446655440000",
      "no URL at all",
    ];
    const incident = await anIncident({ dead: { updead: 3 }, alive: {}, longDead: {} }, personal);
    looksWith().start();

    expect(await opinionOf(incident)).toMatchObject({ asked: 3, alive: 3, verdict: "undecided" });
    const told = (await answersOf(incident))
      .filter(({ isAsked }) => !isAsked)
      .map(({ asset, answer }) => `${asset} ${answer}`);
    expect(told.toSorted()).toStrictEqual([`${personal[1]} gone`, `${personal[0]} undecided`]);
    expect(proxy.asked).toHaveLength(3);
  });

  it("it looks again twice, an interval apart, and at no host twice within the hour", async () => {
    await openWorld();
    const incident = await anIncident({ dead: { updead: 12 }, alive: {}, longDead: {} });
    looksWith({ sample: 5, againMs: 30 * minuteMs }).start();
    const drawn = async (look: number): Promise<string[]> => {
      await opinionOf(incident, look);
      return (await answersOf(incident, look)).map(({ asset }) => asset);
    };

    const first = await drawn(1);
    offsetMs += 30 * minuteMs;
    const second = await drawn(2);
    offsetMs += 30 * minuteMs;
    const third = await drawn(3);
    offsetMs += 5 * hourMs;
    await system.sleep(50);

    expect([first.length, second.length, third.length]).toStrictEqual([5, 5, 5]);
    expect(new Set([...first, ...second]).size).toBe(10);
    expect(third.filter((asset) => second.includes(asset))).toStrictEqual([]);
    expect(await opened.store.looks.of(incident.number)).toHaveLength(3);
  });

  it("a person may ask for a look, once a minute, also when it has ended", async () => {
    await openWorld();
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

  it("a look whose process has died is begun again by another, one that goes on is not", async () => {
    await openWorld();
    const incident = await anIncident({ dead: { updead: 30 }, alive: {}, longDead: {} });
    const { store } = opened;
    const look = {
      incidentNumber: incident.number,
      number: 1,
      startedAtMs: nowMs,
      leaseUntilMs: nowMs + minuteMs,
      isByHand: false,
      planned: 20,
    };
    await store.looks.claim(look);
    const left = {
      slug: "acme",
      asset: "left",
      assetType: null,
      role: "sample",
      answer: "gone",
      status: null,
      title: null,
      bytes: null,
      isAsked: true,
    } as const;
    await store.looks.addAnswer(look, 0, left);
    looksWith().start();
    await system.sleep(50);

    expect(await store.looks.claim(look)).toBe(false);
    expect(await answersOf(incident)).toHaveLength(1);
    offsetMs += 2 * minuteMs;
    expect(await opinionOf(incident)).toMatchObject({ asked: 20, look: 1 });
    expect((await answersOf(incident)).map(({ asset }) => asset)).not.toContain("left");
  });

  describe("the verifier", () => {
    const answer = (body: unknown, status = 200): Promise<HttpSink> =>
      startHttpSink((response, request) => {
        const { assets } = JSON.parse(request.body) as { readonly assets: readonly { readonly asset: string }[] };
        const results = assets.map(({ asset }) => ({
          asset,
          answer: asset.includes("dead") ? "answers" : "sleeping",
          detail: "x",
        }));
        response.writeHead(status).end(JSON.stringify(body ?? { results }));
      });
    const settingsFor = (sink: HttpSink): Partial<LookSettings> => ({
      http: null,
      dns: null,
      verifier: {
        url: new Secret(sink.url),
        timeoutMs: 10_000,
        sign: (message) => createWebhookSigner([new Secret("a-secret-of-the-tests")]).headers(message),
      },
    });

    it("is asked once, signed, about all but what may name a victim, and unknown words are undecided", async () => {
      verifier = await answer(undefined);
      const incident = await anIncident({ dead: { dead: 12 }, alive: { live: 2 }, longDead: {} }, [
        "https://a.example/?m=b@example.org",
      ]);
      looksWith(settingsFor(verifier)).start();

      expect(await opinionOf(incident)).toMatchObject({
        asked: 12,
        alive: 12,
        gone: 0,
        verdict: "refuted",
        controls: { alive: { asked: 2, alive: 0 } },
      });
      expect(verifier.requests).toHaveLength(1);
      const [request] = verifier.requests;
      expect(request?.headers).toMatchObject({
        "webhook-id": "the-question",
        "webhook-signature": expect.stringMatching(/^v1,/),
      });
      const body = JSON.parse(request?.body ?? "") as {
        readonly incidentId: string;
        readonly assets: readonly unknown[];
      };
      expect(body.incidentId).toBe("the-incident");
      expect(body.assets).toHaveLength(14);
      expect(body.assets).toContainEqual({ asset: "https://dead0.example/", assetType: "URL" });
    });

    it.each([
      ["an answer of another form", () => answer({ results: "none" })],
      ["an answer with an error", () => answer(undefined, 500)],
      ["an answer about others", () => answer({ results: [{ asset: "https://other.example/", answer: "answers" }] })],
      ["an answer without end", () => startHttpSink((response) => response.end(" ".repeat(2 ** 20 + 1)))],
      ["no answer in time", () => startHttpSink(() => undefined)],
      ["nobody listening", async () => ({ ...(await answer(undefined)), url: `http://127.0.0.1:${await freePort()}` })],
    ])("says nothing with %s", async (_, start) => {
      verifier = await start();
      const incident = await anIncident({ dead: { dead: 12 }, alive: {}, longDead: {} });
      const { verifier: settings } = settingsFor(verifier);
      looksWith({ ...settingsFor(verifier), verifier: settings ? { ...settings, timeoutMs: 100 } : null }).start();

      expect(await opinionOf(incident)).toMatchObject({ asked: 12, alive: 0, gone: 0, verdict: "undecided" });
    });

    it("may have been recorded: nobody is asked, and the opinion says so", async () => {
      await using folder = await mkdtempDisposable(join(tmpdir(), "flatline-recorded-"));
      const recorded = join(folder.path, "answers.json.gz");
      const results = urlsOf({ dead: 14 }).map((asset) => ({ asset, answer: "answers" }));
      await writeFile(recorded, gzipSync(JSON.stringify({ results })));
      const incident = await anIncident({ dead: { dead: 14, none: 6 }, alive: {}, longDead: {} });
      looksWith({ http: null, dns: null, recorded }).start();

      const opinion = await opinionOf(incident);

      expect(opinion).toMatchObject({ asked: 20, alive: 14, gone: 0, verdict: "refuted", isRecorded: true });
      expect(opinionWords(opinion)).toBe("14 of 20 still answer (by recorded answers)");
      expect(slept).not.toContain(secondMs);
    });

    it("is asked about what HTTP leaves undecided, and not about what a rule refuses", async () => {
      verifier = await answer(undefined);
      await openWorld();
      const incident = await anIncident({ dead: { updead: 2 }, alive: {}, longDead: {} }, [
        "https://127.0.0.1/dead",
        "https://updead9.example:8080/",
      ]);
      looksWith({ verifier: settingsFor(verifier).verifier ?? null }).start();

      expect(await opinionOf(incident)).toMatchObject({ asked: 4, alive: 2 });
      expect(verifier.requests).toHaveLength(0);
    });
  });
});
