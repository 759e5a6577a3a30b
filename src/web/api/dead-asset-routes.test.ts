import { beforeEach, describe, expect, it } from "vitest";

import { basic, harnessNowMs, useWebs, type RunningWeb } from "../../../test/support/web-harness.ts";
import type { DeadAssets, AssetCursor, ListedAsset } from "../read/dead-assets.ts";

const start = useWebs();
let web: RunningWeb;
let asked: object[];

const listed = (asset: string, changes: Partial<ListedAsset> = {}): ListedAsset => ({
  slug: "acme",
  asset,
  assetType: "URL",
  deadAtMs: harnessNowMs,
  attributes: {},
  revivedAtMs: null,
  answer: null,
  ...changes,
});

function assetsOf(assets: ListedAsset[], next: AssetCursor | null = null): DeadAssets {
  const none = { seenAliveCount: 0, revivedCount: 0 };
  const sums = { ...none, fromMs: harnessNowMs - 1_000, toMs: harnessNowMs, count: 7, knownCount: 5 };
  async function* pieces(): AsyncGenerator<ListedAsset[], void> {
    yield assets.slice(0, 1);
    yield assets.slice(1);
  }
  return {
    page: async (query) => {
      asked.push(query);
      return { ...sums, assets, next };
    },
    all: async (filter) => {
      asked.push(filter);
      return { attributes: ["checker", "reason"], pieces: pieces() };
    },
  };
}

const get = (query: string, id = "one"): Promise<Response> =>
  fetch(`${web.url}/api/v1/alerts/${id}/assets${query}`, { headers: basic });

beforeEach(async () => {
  web = await start();
  asked = [];
});
describe("the assets of an alert", () => {
  it("need the token, and an alert that has some", async () => {
    expect((await fetch(`${web.url}/api/v1/alerts/one/assets`)).status).toBe(401);
    expect((await get("")).status).toBe(404);
  });

  it("are no failure where the client leaves a CSV", async () => {
    const left = Promise.withResolvers<void>();
    async function* endless(): AsyncGenerator<ListedAsset[], void> {
      try {
        for (;;) yield [listed("a".repeat(10_000))];
      } finally {
        left.resolve();
      }
    }
    const { page } = assetsOf([]);
    web.world.assets.set("one", { page, all: async () => ({ attributes: [], pieces: endless() }) });

    const answer = await get("?format=csv");
    await answer.body?.cancel();
    await left.promise;
    await get("");

    expect(web.world.logged).toEqual([]);
  });

  it("are a page of a hundred with the counts of all, and where the next one begins", async () => {
    const next = [harnessNowMs, 0, harnessNowMs - 3, 9] as const;
    web.world.assets.set("one", assetsOf([listed("a", { revivedAtMs: harnessNowMs + 5 })], next));

    const answer = (await (await get("")).json()) as { cursor: string };
    const second = await get(`?stillDead=true&assetType=URL&limit=1000&cursor=${answer.cursor}`);

    expect(answer).toEqual({
      alertId: "one",
      fromAt: "2025-12-31T23:59:59.000Z",
      toAt: "2026-01-01T00:00:00.000Z",
      count: 7,
      knownCount: 5,
      assets: [
        {
          asset: "a",
          assetType: "URL",
          deadAt: "2026-01-01T00:00:00.000Z",
          attributes: {},
          revivedAt: "2026-01-01T00:00:00.005Z",
        },
      ],
      cursor: expect.any(String) as string,
    });
    expect(second.status).toBe(200);
    expect(asked).toEqual([{ limit: 100 }, { stillDead: true, assetType: "URL", limit: 1_000, cursor: next }]);
  });

  it("are CSV with a column per attribute: as they are for programs, for sheets without a formula", async () => {
    const assets = [
      listed("https://acme.example/a,b", { attributes: { reason: 'say "no"' } }),
      ...["=1+1", "+1", "-1", "@a", "\ta", "\ra"].map((asset) => listed(asset, { assetType: null })),
      listed("a", { revivedAtMs: harnessNowMs, attributes: { checker: "-x" } }),
    ];
    web.world.assets.set("one", assetsOf(assets));

    const answer = await get("?format=sheet&stillDead=false");

    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="assets-one.csv"');
    const at = "2026-01-01T00:00:00.000Z";
    const sheet = await answer.text();
    expect(await (await get("?format=csv&stillDead=false")).text()).toBe(sheet.replaceAll(/(?<=,"?)'/g, ""));
    expect(sheet).toBe(
      [
        "deadAt,assetType,asset,revivedAt,attr.checker,attr.reason",
        `${at},URL,"https://acme.example/a,b",,,"say ""no"""`,
        `${at},,'=1+1,,,`,
        `${at},,'+1,,,`,
        `${at},,'-1,,,`,
        `${at},,'@a,,,`,
        `${at},,'\ta,,,`,
        `${at},,"'\ra",,,`,
        `${at},URL,a,${at},'-x,`,
        "",
      ].join("\n"),
    );
    expect(asked).toEqual([{ stillDead: false }, { stillDead: false }]);
  });

  it.each([
    "limit=0",
    "limit=1001",
    "limit=ten",
    "stillDead=yes",
    "assetType=url",
    "cursor=abc",
    "cursor=",
    "still=true",
    "format=xml",
    "format=csv&limit=5",
    "limit=1&limit=2",
  ])("are refused for %s", async (query) => {
    web.world.assets.set("one", assetsOf([]));

    const answer = await get(`?${query}`);

    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { issues: unknown[] }).issues).toHaveLength(1);
  });
});
