import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { axeViolations, startBrowser, type TestBrowser } from "../../support/browser.ts";
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

describe("the dialog Go to or do", () => {
  it("opens by Ctrl K, finds by letters in order, and leads there by Enter", async () => {
    const page = await browser.open(`${url}/silences`, authorized);

    await page.keyboard.press("Control+k");
    await page.keyboard.type("nwp");
    await page.locator(".goto-dialog li", { hasText: "northwind-pay" }).waitFor();
    expect(await page.locator(".goto-dialog li").first().locator("b").allTextContents()).toEqual(["n", "w", "p"]);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press("Enter");

    await page.waitForURL(/\/o\/northwind-pay$/);
  });

  it("names what is nearest, is steered by arrows, and closes by Escape", async () => {
    const page = await browser.open(`${url}/silences`, { ...authorized, viewport: { width: 1_440, height: 900 } });
    await page.locator(".goto").click();
    await page.keyboard.type("acmee");
    await page.locator(".goto-dialog p", { hasText: "Nothing is called «acmee». Nearest: acme." }).waitFor();
    await page.locator(".goto-dialog input").fill("o");
    await page.locator(".goto-dialog li").nth(1).waitFor();
    await page.keyboard.press("ArrowDown");

    expect(await page.locator(".goto-dialog li[aria-selected=true]").getAttribute("id")).toBe("goto-1");
    await page.keyboard.press("Escape");
    await page.locator(".goto-dialog").waitFor({ state: "detached" });
  });

  it("finds an act of an incident, which asks before it does anything", async () => {
    const page = await browser.open(`${url}/config`, authorized);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("acknowledge inc");
    await page.locator(".goto-dialog li", { hasText: "Acknowledge incident 1" }).waitFor();
    await page.keyboard.press("Enter");

    await page.waitForURL(/\/incidents\/1\/acknowledge$/);
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await page.waitForURL(/\/incidents\/1\?did=/);
  });
});

describe("keys", () => {
  it("lead by g, focus the filter by /, and open the dialog of an act", async () => {
    const page = await browser.open(`${url}/config`, authorized);
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.waitForURL(/\/incidents$/);
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.id")).toBe("filter");
    await page.goto(`${url}/incidents/1`);
    await page.keyboard.press("e");
    await page.locator("dialog:modal h2", { hasText: "What was it?" }).waitFor();
  });

  it("move the chart by [ and ], and run the checks of an organization by r", async () => {
    const page = await browser.open(`${url}/o/acme?range=24h`, authorized);
    await page.keyboard.press("[");
    await page.waitForURL(/from=\d+&to=\d+/);
    const { searchParams: before } = new URL(page.url());
    // Its ends are those of its bars.
    expect(Math.round((Number(before.get("to")) - Number(before.get("from"))) / 3_600_000)).toBe(24);
    await page.keyboard.press("]");
    await page.waitForURL((at) => Number(at.searchParams.get("from")) > Number(before.get("from")));

    const run = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/o/acme/run"));
    await page.keyboard.press("r");
    expect((await (await run).response())?.status()).toBe(204);
  });

  it("are listed by ?, and can be turned off there", async () => {
    const page = await browser.open(`${url}/config`, authorized);
    await page.keyboard.press("?");
    await page.locator("dialog h2", { hasText: "Keys" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Turn them off" }).click();
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.keyboard.press("?");
    await page.getByRole("button", { name: "Turn them on" }).waitFor();

    expect(page.url()).toBe(`${url}/config`);
  });
});

describe("what the foot keeps in the browser", () => {
  it("a theme holds over pages, and does not follow the system", async () => {
    const page = await browser.open(`${url}/silences`, { ...authorized, colorScheme: "light" });
    const background = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await background();

    await page.locator(".foot a", { hasText: "dark" }).click();
    await page.locator("html[data-theme=dark]").waitFor();
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
