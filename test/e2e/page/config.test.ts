import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";

const token = "let-me-in";
const authorized = { extraHTTPHeaders: { authorization: `Bearer ${token}` } };

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  const many = Array.from({ length: 1_990 }, (_, index) => `  - plain-${String(index).padStart(4, "0")}`);
  const alike = ["a", "b", "c", "d"].map((name) => `  - { slug: hosts-${name}, thresholds: { failMultiplier: 6 } }`);
  await folder.configure(`
source: { type: embedded, concurrency: 64 }
defaults: { schedule: "0 0 1 1 *", thresholds: { minSpikeCount: 20 } }
organizations:
${[...many, ...alike].join("\n")}
  - slug: acme
    thresholds: { warnMultiplier: 3 }
    alert: { for: 10m }
  - slug: queued
    jitter: 30s
    alert: { minBaselineCoverage: 0.5 }
    reviewQueue: { enabled: true, warnAfter: 1h }
    regret: {}
    gate: { releaseOn: [judged, resolved] }
server: { listen: "127.0.0.1:0", token: "${token}" }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  browser = await startBrowser();
});

afterAll(async () => {
  expect(browser.complaints).toEqual([]);
  await browser?.close();
  await folder?.close();
});

describe("the page of the configuration, with 1,996 organizations", () => {
  it("lists what differs, the same of several in one row, with file and line", async () => {
    const page = await browser.open(`${url}/config`, authorized);

    expect(await page.locator("h1").innerText()).toBe(
      "6 of 1,996 organizations differ from the defaults, in 13 settings.",
    );
    const rows = await page.locator("#differs tbody tr").allInnerTexts();
    expect(rows).toHaveLength(13);
    expect(rows[0]).toContain("4 organizations");
    expect(rows[0]).toMatch(/failMultiplier\s+6\s+4\s+flatline\.yaml:\d+/);
    expect(rows[1]).toMatch(/acme\s+warnMultiplier\s+3\s+2\s+flatline\.yaml:\d+/);
    const queued = rows.slice(3).map((row) => row.split("\t").slice(1, 4).join(" "));
    expect(queued).toEqual([
      "jitter 30s 0s",
      "alert.minBaselineCoverage 0.5 0",
      "reviewQueue.enabled true false",
      "reviewQueue.warnAfter 1h 4h",
      "regret.warnAbove 0.45 –",
      "regret.failAbove 0.65 –",
      "regret.minDeaths 20 –",
      "regret.window 24h –",
      "regret.maturity auto –",
      "gate.releaseOn judged, resolved judged",
    ]);
    expect(await page.locator("#defaults header").innerText()).toMatch(/2 set/);
  });

  it("is no longer than a few screens, whatever is configured", async () => {
    const page = await browser.open(`${url}/config`, authorized);

    expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThan(3_000);
    await page.locator("#c-organizations summary").click();
    expect((await page.locator("#c-organizations pre").innerText()).split("\n").length).toBeLessThan(510);
    expect(await page.locator("#c-organizations .second").innerText()).toMatch(
      /^1,976 organizations and \d+ lines more: flatline config show$/,
    );
    expect(await page.content()).not.toContain(token);
  });

  it("filters by words, and looks one up", async () => {
    const page = await browser.open(`${url}/config`, authorized);

    await page.locator("#filter").fill("hosts-c failmultiplier");
    await page.waitForURL(/q=hosts-c\+failmultiplier/);
    await expect.poll(() => page.locator("#differs tbody tr").count()).toBe(1);
    await page.locator("#look-up").fill("acme");
    await page.locator("#one dt", { hasText: "warnMultiplier" }).waitFor();
    expect(new URL(page.url()).searchParams.get("o")).toBe("acme");
    expect(await page.locator("#filter").inputValue()).toBe("hosts-c failmultiplier");
  });

  it("is read again at the press of a button, without scripts too", async () => {
    const page = await browser.open(`${url}/config`, { ...authorized, javaScriptEnabled: false });

    await page.getByRole("button", { name: "Reload" }).click();

    expect(await page.locator("#did").innerText()).toBe("Reloaded.");
    expect(await page.locator("#main").innerText()).toContain("The last reload was ok.");
  });
});
