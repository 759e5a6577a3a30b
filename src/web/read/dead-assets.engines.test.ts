import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createWorldOn, death, type EventWorld } from "../../../test/support/store/event-store.ts";
import { storeEngines } from "../../../test/support/store/engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import { actor } from "../../contract/actor.ts";
import type { Config } from "../../config/config.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { LivenessEvent } from "../../store/events/rules.ts";
import {
  createAlertAssets,
  type AssetCursor,
  type AssetFilter,
  type AssetPage,
  type DeadAssets,
  type ListedAsset,
} from "./dead-assets.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const clock = createVirtualClock({ startMs: nowMs });
const windowHours = 24;
const kim = actor("kim", "token");

interface Incident {
  readonly slug: string;
  readonly fromMs: number;
  readonly toMs: number;
}

function alertOf(id: string, slug: string, startsAtMs: number): Alert {
  const peak = { severity: "fail", currentCount: null, atMs: startsAtMs } as const;
  return firingAlert(id, startsAtMs, { slug, peak, windowHours });
}

const config = () => ({ storage: { eventRetentionMs: 2 * dayMs } }) as Config;

const portOf = ({ store }: EventWorld, holdsEvents = true) =>
  createAlertAssets({ store, clock, config, holdsEvents: () => holdsEvents });

async function find(world: EventWorld, id: string): Promise<DeadAssets> {
  const assets = await portOf(world).of(id);
  if (assets === null) throw new Error(`no assets of ${id}`);
  return assets;
}

async function readPages(assets: DeadAssets, filter: AssetFilter & { limit: number }): Promise<AssetPage[]> {
  const pages: AssetPage[] = [];
  for (let cursor: AssetCursor | undefined; ;) {
    const page = await assets.page({ ...filter, cursor });
    pages.push(page);
    if (page.next === null) return pages;
    cursor = page.next;
  }
}

const keyOf = ({ asset, assetType }: Pick<ListedAsset, "asset" | "assetType">): string => `${assetType ?? ""} ${asset}`;

/** Finds the dead assets one by one, as they are defined. */
function bruteForce(events: readonly LivenessEvent[], { slug, fromMs, toMs }: Incident): Map<string, ListedAsset> {
  const own = events.filter((event) => event.slug === slug && event.asset !== null);
  const aliveAt = Map.groupBy(
    own.filter(({ status }) => status === "DETECTED_AS_ALIVE"),
    ({ asset }) => asset,
  );
  const listed = new Map<string, ListedAsset>();
  for (const { asset, assetType, status, count, atMs, attributes = {} } of own) {
    if (status !== "DETECTED_AS_DEAD" || count === 0 || asset === null || atMs <= fromMs || atMs > toMs) continue;
    const key = keyOf({ asset, assetType });
    if ((listed.get(key)?.deadAtMs ?? 0) > atMs) continue;
    const later = (aliveAt.get(asset) ?? [])
      .filter((one) => one.assetType === assetType || one.assetType === null || assetType === null)
      .map((one) => one.atMs)
      .filter((one) => one > atMs);
    const revivedAtMs = later.length === 0 ? null : later.reduce((first, one) => Math.min(first, one));
    listed.set(key, { slug, asset, assetType, deadAtMs: atMs, attributes, revivedAtMs, answer: null });
  }
  return listed;
}

describe.each(storeEngines)("on $engine, the assets of an alert", (engine) => {
  const anyEvent = fc
    .record({
      atMs: fc.integer({ min: -30, max: 10 }).map((hours) => nowMs + hours * hourMs),
      slug: fc.constantFrom("acme", "globex"),
      assetType: fc.constantFrom("URL", "EMAIL", null),
      asset: fc.constantFrom("a", "b", "c", null),
      status: fc.constantFrom("DETECTED_AS_DEAD", "DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "SEEN"),
      count: fc.constantFrom(1, 1, 3, 0),
    })
    .map(({ atMs, slug, ...rest }) => death(atMs, slug, { ...rest, attributes: { of: slug } }));

  it("are those of the definition whatever the order of the events, and never of another organization", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEvent, { maxLength: 40 }), fc.boolean(), async (events, isReversed) => {
        await using world = await createWorldOn(engine);
        await world.store.events.add(isReversed ? events.toReversed() : events);
        await world.store.alerts.save(alertOf("one", "acme", nowMs - hourMs));
        const wanted = bruteForce(events, { slug: "acme", fromMs: nowMs - hourMs - windowHours * hourMs, toMs: nowMs });

        const pages = await readPages(await find(world, "one"), { limit: 2 });

        const listed = pages.flatMap((page) => page.assets);
        expect(new Map(listed.map((one) => [keyOf(one), one]))).toEqual(wanted);
        expect(listed).toHaveLength(wanted.size);
        expect(listed.every(({ attributes }) => attributes["of"] === "acme")).toBe(true);
        const sampled = await world.store.evidence.newestDeaths({
          spans: [{ slug: "acme", interval: { afterMs: nowMs - hourMs - windowHours * hourMs, untilMs: nowMs } }],
          assetTypes: [],
          limit: 3,
        });
        expect(sampled.map(({ asset, atMs }) => [asset, atMs])).toEqual(
          listed.slice(0, 3).map(({ asset, deadAtMs }) => [asset, deadAtMs]),
        );
      }),
      { numRuns: 8 },
    );
  });

  it("are still dead when an asset of another type and the same content is found alive", async () => {
    await using world = await createWorldOn(engine);
    const content = "https://acme-login.example";
    const seen = (assetType: string, atMs: number, status: string): LivenessEvent =>
      death(atMs, "acme", { asset: content, assetType, status });
    await world.store.events.add([
      seen("URL", nowMs - 3, "DETECTED_AS_DEAD"),
      seen("PAGE", nowMs - 3, "DETECTED_AS_DEAD"),
      seen("PAGE", nowMs - 1, "DETECTED_AS_ALIVE"),
    ]);
    await world.store.alerts.save(alertOf("one", "acme", nowMs));

    const { assets, knownCount } = await (await find(world, "one")).page({ limit: 9, stillDead: true });

    expect(assets).toMatchObject([{ asset: content, assetType: "URL", revivedAtMs: null }]);
    expect(knownCount).toBe(2);
  });

  it("stay those of the first page while more die", async () => {
    await using world = await createWorldOn(engine);
    const events = ["a", "b", "c"].map((asset, index) => death(nowMs - index * hourMs, "acme", { asset }));
    await world.store.events.add(events);
    await world.store.alerts.save(alertOf("one", "acme", nowMs - dayMs));
    const assets = await find(world, "one");

    const first = await assets.page({ limit: 1 });
    await world.store.events.add([death(nowMs + 1, "acme", { asset: "c" }), death(nowMs + 1, "acme", { asset: "d" })]);
    const rest = await assets.page({ limit: 5, ...(first.next === null ? {} : { cursor: first.next }) });

    expect([...first.assets, ...rest.assets].map(({ asset }) => asset)).toEqual(["a", "b", "c"]);
    expect(rest).toMatchObject({ toMs: nowMs, count: 3, knownCount: 3, next: null });
  });

  it("are filtered by type, with the attributes that any of them has", async () => {
    await using world = await createWorldOn(engine);
    await world.store.events.add([
      death(nowMs, "acme", { asset: "a", assetType: "URL", attributes: { reason: "tls" } }),
      death(nowMs - 1, "acme", { asset: "b", assetType: "URL", attributes: { checker: "x" } }),
      death(nowMs - 2, "acme", { asset: "c", assetType: "EMAIL", attributes: { country: "DE" } }),
    ]);
    await world.store.alerts.save(alertOf("one", "acme", nowMs));
    const assets = await find(world, "one");

    expect((await assets.page({ limit: 9, assetType: "EMAIL" })).assets).toMatchObject([{ asset: "c" }]);
    expect((await assets.page({ limit: 9, assetType: "NONE" })).assets).toEqual([]);
    expect((await assets.all({ assetType: "URL" }, kim)).attributes).toEqual(["checker", "reason"]);
  });

  it("are none of other checks, of alerts without a result, of unknown ones, nor of another source", async () => {
    await using world = await createWorldOn(engine);
    const port = portOf(world);
    await world.store.alerts.save({ ...alertOf("other", "acme", nowMs), check: "sentinel" });
    await world.store.alerts.save({ ...alertOf("unknown", "acme", nowMs), kind: "unknown" });
    await world.store.alerts.save(alertOf("one", "acme", nowMs));

    expect(await Promise.all(["other", "unknown", "nobody"].map((id) => port.of(id)))).toEqual([null, null, null]);
    const remote = portOf(world, false);
    expect(await remote.of("one")).toBeNull();
    expect(await port.of("one")).not.toBeNull();
  });

  it("of an incident are by what the look and events say, each of an organization once", async () => {
    await using world = await createWorldOn(engine);
    const { store } = world;
    const alive = { status: "DETECTED_AS_ALIVE", assetType: "URL" };
    await store.events.add([
      ...["a", "b", "c", "d"].map((asset, index) => death(nowMs - index, "acme", { asset, assetType: "URL" })),
      death(nowMs + hourMs, "acme", { asset: "c", ...alive }),
      death(nowMs + 3 * hourMs, "acme", { asset: "a", assetType: "URL" }),
      death(nowMs - 9, "globex", { asset: "a", assetType: "URL" }),
    ]);
    const ended = (alert: Alert, atMs: number): Alert => ({ ...alert, end: { atMs, isByRun: true } });
    const alerts = [
      ended(alertOf("one", "acme", nowMs), nowMs + hourMs),
      ended(alertOf("again", "acme", nowMs + 3 * hourMs), nowMs + 4 * hourMs),
      ended(alertOf("other", "globex", nowMs), nowMs + 4 * hourMs),
      { ...alertOf("else", "acme", nowMs), check: "sentinel" as const },
    ];
    const looks = ["undecided", "answers", "undecided"] as const;
    for (const [index, answer] of looks.entries()) {
      const look = { incidentNumber: 1, number: index + 1, startedAtMs: nowMs };
      await store.looks.begin({ ...look, isByHand: false });
      const asked = { assetType: "URL", slug: "acme", asset: "d", role: "sample", detail: null } as const;
      await store.looks.addAnswers(look, [{ ...asked, answer }]);
    }

    const list = await portOf(world).ofIncident({ number: 1, id: "i" }, alerts);
    const pages = list === null ? [] : await readPages(list, { limit: 2 });

    const said = pages.flatMap((page) => page.assets.map(({ slug, asset, answer }) => [slug, asset, answer]));
    expect(said).toEqual([
      ["acme", "d", "answers"],
      ["acme", "c", null],
      ["acme", "a", null],
      ["acme", "b", null],
      ["globex", "a", null],
    ]);
    expect(pages[0]).toMatchObject({ count: 6, knownCount: 5, seenAliveCount: 1, revivedCount: 1 });
    expect(pages[0]?.assets).toMatchObject([{ deadAtMs: nowMs - 3 }, { revivedAtMs: nowMs + hourMs }]);
    expect(pages[1]?.assets[0]).toMatchObject({ deadAtMs: nowMs + 3 * hourMs });
    const remote = portOf(world, false);
    expect(await remote.ofIncident({ number: 1, id: "i" }, alerts)).toBeNull();
  });

  it("cost what is known of their deaths, and nothing that is known where events of theirs are gone", async () => {
    await using world = await createWorldOn(engine);
    const { store } = world;
    const alive = { status: "DETECTED_AS_ALIVE", assetType: "URL" };
    await store.events.add([
      ...["a", "b", "c"].map((asset) => death(nowMs, "acme", { asset, assetType: "URL" })),
      ...["d", "e"].map((asset) => death(nowMs, "globex", { asset, assetType: "URL" })),
      death(nowMs + hourMs, "acme", { asset: "a", ...alive }),
      death(nowMs + 3 * hourMs, "acme", { asset: "b", ...alive }),
      death(nowMs + 6 * hourMs, "globex", { asset: "d", ...alive }),
    ]);
    const judgement = { verdict: "checker", comment: null, by: "kim", note: null, atMs: nowMs } as const;
    const costOf = async (...alerts: Alert[]) =>
      portOf(world).costOf(
        alerts.map((alert) => ({ ...alert, judgement, end: { atMs: nowMs + dayMs, isByRun: true } })),
      );
    const [one, other, old] = [
      alertOf("one", "acme", nowMs),
      alertOf("other", "globex", nowMs),
      alertOf("old", "initech", nowMs - dayMs - 1),
    ];
    const cost = {
      deaths: 3,
      knownCount: 3,
      revived: 2,
      stillDead: 1,
      medianClosedSeconds: 7_200,
      closedSeconds: 14_400,
    };
    expect(await costOf(one)).toEqual(cost);
    expect(await costOf(one, other)).toMatchObject({ deaths: 5, stillDead: 2, medianClosedSeconds: 10_800 });
    // The alert ended and fired again within one window.
    const again = alertOf("again", "acme", nowMs + hourMs);
    expect(await costOf(one, again)).toEqual(cost);
    expect(await portOf(world).costOf([one])).toBeNull();
    expect(await costOf(old)).toBeNull();
  });
});
