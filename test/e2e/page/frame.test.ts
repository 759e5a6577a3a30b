import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;
const token = "let-me-in";
const authorized = { extraHTTPHeaders: { authorization: `Bearer ${token}` } };

beforeAll(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *", whenNoEvents: ok }
organizations: [acme, { slug: northwind-pay, labels: { team: trust } }, globex]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => {
    const { incidents } = (await (await fetch(`${url}/api/v1/incidents`)).json()) as { incidents: readonly object[] };
    return incidents.length === 1;
  });
  browser = await startBrowser();
});

afterAll(async () => {
  expect(browser.complaints).toEqual([]);
  await browser?.close();
  await folder?.close();
});

describe("what the foot keeps in the browser", () => {
  it("a theme holds over pages, and does not follow the system", async () => {
    const page = await browser.open(`${url}/silences`, { ...authorized, colorScheme: "light" });
    const background = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await background();

    await page.locator(".foot a", { hasText: "dark" }).click();
    await page.locator("meta[name=color-scheme][content=dark]").waitFor({ state: "attached" });
    const dark = await background();
    await page.goto(`${url}/config`);

    expect(dark).not.toBe(light);
    expect(await background()).toBe(dark);
  });

  it("local times hold over pages and refreshes, name their zone, and are UTC without a choice", async () => {
    const page = await browser.open(`${url}/incidents/1`, { ...authorized, timezoneId: "Asia/Tokyo" });
    const began = page.locator("main time[data-kind]").first();
    const utc = await began.innerText();

    await page.getByRole("button", { name: "local" }).click();
    await page.locator("#clock", { hasText: "GMT+9" }).waitFor();
    expect(await began.innerText()).not.toBe(utc);
    const local = await began.innerText();
    await page.evaluate(`document.getElementById("main").dispatchEvent(new Event("refresh"))`);
    await page.waitForResponse((response) => response.url().endsWith("/incidents/1"));
    await page.reload();

    await expect.poll(() => began.innerText()).toBe(local);
    await page.getByRole("button", { name: "UTC", exact: true }).click();
    expect(await began.innerText()).toBe(utc);
  });

  it("has no choice of a zone without scripts", async () => {
    const page = await browser.open(`${url}/incidents/1`, { ...authorized, javaScriptEnabled: false });

    expect(await page.locator(".zones").isVisible()).toBe(false);
  });
});
