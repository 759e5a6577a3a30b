import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { useBrowser, textAt } from "../../support/browser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { death, toNdjson } from "../../support/store/event-store.ts";

const bearer = { authorization: "Bearer let-me-in-of-the-tests" };
const reader = { authorization: "Bearer reader-secret-of-tests" };
const hourMs = 3_600_000;
const together = ["globex", "initech", "umbrella", "stark"];
// It has no place to break.
const long = "organization".repeat(5);
const slugs = [...together, "acme", "hooli", long];

const folder = useDaemonFolder();
const browser = useBrowser();

/** Eight calm days, and half an hour in which everything of four dies, and some of it comes back. */
function events(nowMs: number): string {
  const of = (slug: string, atMs: number, asset: string, status = "DETECTED_AS_DEAD") =>
    death(atMs, slug, { assetType: "URL", asset, status, attributes: { reason: "captcha_page" } });
  const calm = ["acme", ...together].flatMap((slug) =>
    Array.from({ length: 34 }, (_, index) => {
      const hour = 200 - 6 * index;
      return of(slug, nowMs - hour * hourMs, `https://${slug}-${hour}.example/a`);
    }),
  );
  const spike = together.flatMap((slug, index) =>
    Array.from({ length: 120 + 10 * index }, (_, death) =>
      of(slug, nowMs - hourMs / 2 - death * 1_000, `https://${slug}-login-${death}.example/`),
    ),
  );
  const revived = [0, 1, 2].map((death) =>
    of("globex", nowMs - 60_000, `https://globex-login-${death}.example/`, "DETECTED_AS_ALIVE"),
  );
  return toNdjson([...calm, ...spike, ...revived]);
}

const send = (path: string, body: string, type = "application/json", headers: object = bearer): Promise<Response> =>
  fetch(`${folder.url}${path}`, {
    method: "POST",
    headers: { ...headers, "content-type": type },
    body,
    redirect: "manual",
  });

const get = (path: string, headers: object = bearer): Promise<Response> =>
  fetch(folder.url + path, { headers: { ...headers, accept: "text/html" }, redirect: "manual" });

const open = (path: string, options: object = {}): Promise<Page> =>
  browser.open(folder.url + path, { extraHTTPHeaders: bearer, ...options });

beforeAll(async () => {
  await folder.configure(`
defaults: { schedule: "0 0 1 1 *", receivers: [ops, { name: lead, after: 30m }] }
organizations:
  - acme
  - { slug: globex, labels: { team: fraud }, thresholds: { minSpikeCount: 12 } }
  - initech
  - umbrella
  - stark
  - hooli
  - ${long}
alerting: { groupWait: 100ms, groupInterval: 1s }
receivers: [{ name: ops, type: log }, { name: lead, type: log }]
server:
  listen: "${folder.listen}"
  tokens:
    - { name: dana, token: let-me-in-of-the-tests, may: [read, operate, gate, ingest, admin] }
    - { name: reader, token: reader-secret-of-tests, may: [read] }
`);
  await folder.start();
  const nowMs = Date.now();
  expect((await send("/api/v1/events", events(nowMs), "application/x-ndjson")).status).toBe(200);
  for (const slug of slugs.filter((one) => one !== "hooli"))
    await send(`/api/v1/checks/dead-asset-spike/${slug}/run`, "");
  // Of hooli nothing was ever stored: that fires with the third run.
  for (let run = 0; run < 3; run++) await send("/api/v1/checks/dead-asset-spike/hooli/run", "");
});

beforeEach(() => browser.forgive(0));

describe("the page of an organization", () => {
  it("says that it is well, and since when", async () => {
    const page = await open("/o/acme");

    expect(await textAt(page, "h1")).toMatch(/^acme is ok: [34] deaths in 24 h, 4\.\d expected \(\d\.\d×\)\./);
    expect(await page.locator("svg.chart").count()).toBe(1);
    expect(await page.locator(".asked").count()).toBe(0);
    expect(await page.title()).toBe("ok: acme");
  });

  it("says with how many it began, and asks for the acts on it alone", async () => {
    const page = await open("/o/globex");

    expect(await textAt(page, "h1")).toMatch(
      /^globex: 12\d deaths in 24 h, 4\.\d expected \(\d\d\.\d×\)\. It began with 3 others at [\w :]+\.$/,
    );
    expect(await page.locator("h1 a").getAttribute("href")).toBe("/incidents/1");
    expect(await page.locator(".asked h2").allInnerTexts()).toEqual([
      "Who has acknowledged it?",
      "What was it?",
      "May the deaths be acted on?",
    ]);
    expect(await textAt(page, ".asked section:last-child .answer")).toBe("No: takedowns of globex are on hold");
    expect(await page.locator("a:text-is('for all 4')").getAttribute("href")).toBe("/incidents/1");
  });
});

describe("dead assets", () => {
  it("are listed with broken addresses that lead nowhere, for who may read", async () => {
    const page = await open("/o/globex");

    expect(await textAt(page, "#assets td.address")).toMatch(/^hxxps:\/\/globex-login-\d+\[\.\]example\/$/);
    expect(await page.locator("#assets td a").count()).toBe(0);
    expect(await page.locator("#assets tbody tr").count()).toBe(20);
    const csv = (await page.locator("#assets a[download]").getAttribute("href")) ?? "";
    expect((await (await get(csv, reader)).text()).split("\n")).toHaveLength(1 + 120 + 4 + 1);
    expect(await (await get("/o/globex", {})).text()).not.toContain("hxxps");
  });

  it("of an incident of many are the last of all of them, each with its organization", async () => {
    const page = await open("/incidents/1", { javaScriptEnabled: false });

    const last = Array.from({ length: 5 }, (_, death) =>
      together.map((slug) => `hxxps://${slug}-login-${death}[.]example/`),
    );
    expect((await page.locator("#assets td.address").allInnerTexts()).toSorted()).toEqual(last.flat().toSorted());
    const csv = (await page.locator("#assets a[download]").getAttribute("href")) ?? "";
    expect((await (await get(csv, reader)).text()).split("\n")).toHaveLength(1 + 120 + 130 + 140 + 150 + 1);
  });
});

describe("acts on an organization", () => {
  it("run all of its checks by a form, with and without scripts", async () => {
    const page = await open("/o/acme");
    await page.click("text=Run now");
    await page.locator("#did:has-text('1 healthcheck ran.')").waitFor();

    const plain = await open("/o/acme", { javaScriptEnabled: false });
    await plain.click("text=Run now");
    expect(new URL(plain.url()).pathname).toBe("/o/acme");
    expect(await textAt(plain, "#did")).toBe("1 healthcheck ran.");
  });

  it("are of it only, though it began with others", async () => {
    const page = await open("/o/globex");
    await page.click("text=Judge…");
    await page.locator("dialog:modal").waitFor();
    expect(await textAt(page, "dialog h1")).toBe("What was it, in globex?");
    await page.check("dialog input[value=real]");
    await page.click("dialog button.primary");

    await page.locator("#did:has-text('1 judged.')").waitFor();
    const { alerts } = (await (await fetch(`${folder.url}/api/v1/incidents/1`)).json()) as {
      readonly alerts: readonly { readonly id: string; readonly slug: string; readonly judgement: object | null }[];
    };
    const judged = alerts.filter(({ judgement }) => judgement !== null);
    expect(judged.map(({ slug }) => slug)).toEqual(["globex"]);

    await folder.withStore(async (store) => {
      const kept = await store.alerts.find(judged[0]?.id ?? "");
      if (kept !== null) await store.alerts.save({ ...kept, id: "00aa11", end: { atMs: Date.now(), isByRun: true } });
    });
    expect(await textAt(await open("/o/globex"), "#about")).toMatch(
      /Baseline has the deaths of incident 1 until \d.*; baseline: median forgets them/,
    );
  });

  it("call nobody for what is judged", async () => {
    expect(await textAt(await open("/incidents/1"), ".instants")).toContain("lead is called at");

    await send("/api/v1/incidents/1/judgement", JSON.stringify({ verdict: "expected" }));

    expect(await textAt(await open("/incidents/1"), ".instants")).not.toContain("lead is called at");
    expect(await (await get("/incidents/1")).text()).toContain("It is judged: nobody is reminded any more.");
  });
});
