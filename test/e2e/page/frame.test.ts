import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { axeViolations, startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *", whenNoEvents: ok }
organizations: [acme, { slug: northwind-pay, labels: { team: trust } }, globex]
server: { listen: "127.0.0.1:0", token: let-me-in }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

describe("the dialog Go to", () => {
  it("opens by Ctrl K, finds by letters in order, and leads there by Enter", async () => {
    const page = await browser.open(url);
    await page.locator("html.js").waitFor();

    await page.keyboard.press("Control+k");
    await page.keyboard.type("nwp");
    await page.locator(".goto-dialog li", { hasText: "northwind-pay" }).waitFor();
    expect(await page.locator(".goto-dialog li").first().locator("b").allTextContents()).toEqual(["n", "w", "p"]);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press("Enter");

    await page.waitForURL(/\/o\/northwind-pay$/);
  });

  it("names what is nearest, is steered by arrows, and closes by Escape", async () => {
    const page = await browser.open(url);
    await page.locator("[data-goto]").click();
    await page.keyboard.type("acmee");
    await page.locator(".goto-none", { hasText: "Nothing is called «acmee». Nearest: acme." }).waitFor();
    await page.locator(".goto-dialog input").fill("o");
    await page.locator(".goto-dialog li").nth(1).waitFor();
    await page.keyboard.press("ArrowDown");

    expect(await page.locator(".goto-dialog li[aria-selected=true]").getAttribute("id")).toBe("goto-1");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
  });

  it("begins with what was seen last", async () => {
    const page = await browser.open(`${url}/o/globex`);
    await page.goto(`${url}/o/acme`);
    await page.goto(url);
    await page.keyboard.press("Control+k");
    await page.locator(".goto-dialog li").nth(1).waitFor();

    expect(await page.locator(".goto-dialog .goto-name").allTextContents()).toEqual(["acme", "globex"]);
  });
});

describe("what the foot keeps in the browser", () => {
  it("a theme holds over pages, and does not follow the system", async () => {
    const page = await browser.open(url, { colorScheme: "light" });
    const background = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await background();

    await page.locator("[data-choice=theme][value=dark]").click();
    const dark = await background();
    await page.goto(`${url}/o/acme`);

    expect(dark).not.toBe(light);
    expect(await background()).toBe(dark);
    await page.locator("[data-choice=theme][value=system]").click();
    expect(await background()).toBe(light);
  });

  it("local times name their zone, UTC is what holds without a choice", async () => {
    const page = await browser.open(url, { timezoneId: "Asia/Tokyo" });
    await page.locator("#stream", { hasText: /^live$/ }).waitFor();
    const hour = async (): Promise<number> =>
      Number(/(\d\d):\d\d:\d\d/.exec(await page.locator("#clock").innerText())?.[1]);
    const utc = await hour();

    await page.locator("[data-choice=zone][value=local]").click();
    await page.locator("#zone", { hasText: "GMT+9" }).waitFor();
    await page.locator("#clock").evaluate((clock) => (clock.textContent = ""));
    await page.locator("#clock", { hasText: ":" }).waitFor();

    expect([(utc + 9) % 24, (utc + 10) % 24]).toContain(await hour());
  });
});

describe("a page that is not there", () => {
  it.each(["light", "dark"] as const)("has the frame of the others: %s", async (colorScheme) => {
    const page = await browser.open(url, { colorScheme });
    const before = browser.complaints.length;
    await page.goto(`${url}/nope`);

    expect(await page.locator("h1").textContent()).toBe("There is no page here.");
    expect(await axeViolations(page)).toEqual([]);
    // The browser itself reports the 404 that was wanted.
    browser.forgive(before);
  });

  it("no page complained", () => {
    expect(browser.complaints).toEqual([]);
  });
});
