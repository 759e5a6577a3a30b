import { beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { useBrowser, textAt } from "../../support/browser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const bearer = { authorization: "Bearer let-me-in-of-the-tests" };
const names = ["acme", "globex", "initech", "umbrella", "stark", "wayne", "tyrell", "wonka", "oscorp", "bluth"];
const spiking = [...names, "soylent"];
const calm = ["hooli", "nakatomi", "vandelay"];

const folder = useDaemonFolder();
const browser = useBrowser();

const open = (path = "/", options: object = {}): Promise<Page> =>
  browser.open(folder.url + path, { extraHTTPHeaders: bearer, ...options });

beforeAll(async () => {
  const organizations = [...spiking, ...calm].map(
    (slug, index) => `{ slug: ${slug}, labels: { team: ${index % 2 === 0 ? "trust" : "fraud"} } }`,
  );
  await folder.configure(`
defaults: { schedule: "0 0 1 1 *" }
organizations: [${organizations.join(", ")}, quiet]
alerting: { groupWait: 100ms, groupInterval: 1s }
receivers: [{ name: ops, type: log }]
server: { listen: "${folder.listen}", tokens: [{ name: dana, token: let-me-in-of-the-tests, may: [read, operate, gate, ingest] }] }
`);
  for (const slug of calm) await folder.addDeaths(slug, { lastHour: 3, perDay: 3 });
  for (const [index, slug] of spiking.entries()) await folder.addDeaths(slug, { lastHour: 90 + index, perDay: 3 });
  // Sends events, and nobody configured it.
  await folder.addDeaths("stranger", { lastHour: 2, perDay: 1 });
  await folder.start();
  await eventually(async () => {
    const { incidents } = (await (await fetch(`${folder.url}/api/v1/incidents`)).json()) as {
      incidents: { firing: number }[];
    };
    return incidents[0]?.firing === spiking.length ? true : null;
  });
});

describe("the overview", () => {
  it("leads with the incident, its answers and its acts", async () => {
    const page = await open();

    expect(await textAt(page, "h1")).toMatch(/^11 of 15 organizations spike since (\d+ [A-Z][a-z]{2} )?\d\d:\d\d\./);
    expect(await textAt(page, ".incident .do .row")).toBe("Acknowledge 11… Judge 11… Release 11…");
    expect(await page.title()).toMatch(/^fail: 11 of 15 organizations/);
    expect(await textAt(page, ".counters")).toBe("11 fail 0 warn 1 unknown 3 ok");
    expect(await page.locator("#favicon").getAttribute("href")).toBe("/assets/fail.svg");
  });

  it("filters by words and severities, and says what matches", async () => {
    const page = await open();
    await page.fill("#filter", "team=fraud gate=hold");
    await page.locator("text=/^5 of 15 match: 5 fail, 5 on hold$/").waitFor();

    await page.click(".counters a:has-text('ok')");

    await page.locator("text=No organization matches.").waitFor();
    expect(new URL(page.url()).searchParams.get("severity")).toBe("ok");
  });

  it("names what sends events and is not watched, to who may read that", async () => {
    expect(await textAt(await open(), "p.lede:has-text('Not watched')")).toBe(
      "Not watched: 1 slug sends events and nothing checks it: stranger 8 events.",
    );
    const anybody = await browser.open(folder.url);
    expect(await anybody.locator("text=Not watched").count()).toBe(0);
  });

  it("is in UTC with the browser's own time as title, and follows the system's dark", async () => {
    const page = await open("/incidents/1", { timezoneId: "Asia/Tokyo", colorScheme: "dark" });

    expect(await page.locator("main time[title]").first().getAttribute("title")).toMatch(/ GMT\+9$/);
    expect(await textAt(page, "#clock")).toMatch(/^\d\d:\d\d UTC$/);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(14, 18, 20)");
  });

  it("costs six requests and 60 kB at most, and keeps its style and script for good", async () => {
    const sizes: number[] = [];
    const page = await browser.open("about:blank", {});
    page.on("response", (response) => {
      void response
        .request()
        .sizes()
        .then(({ responseBodySize }) => sizes.push(responseBodySize));
    });
    await page.goto(folder.url, { waitUntil: "networkidle" }).catch(() => undefined);

    expect(sizes.length).toBeLessThanOrEqual(6);
    expect(sizes.reduce((sum, one) => sum + one, 0)).toBeLessThan(60_000);
    const style = await page.locator("link[rel=stylesheet]").getAttribute("href");
    const kept = await fetch(folder.url + (style ?? ""));
    expect(kept.headers.get("cache-control")).toContain("immutable");
  });
});
