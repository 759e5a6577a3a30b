import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { axeViolations, startBrowser, type TestBrowser, signIn } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const token = "let-me-in";
const bearer = { authorization: `Bearer ${token}` };
const spiking = ["acme", "globex", "initech", "umbrella"];
const calm = Array.from({ length: 200 }, (_, index) => `calm-${String(index).padStart(3, "0")}`);

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  for (const slug of spiking) await folder.addDeaths(slug, { lastHour: 60, perDay: 1 });
  const labels = "{ team: trust, region: europe-west, tier: gold, owner: nightshift }";
  const organizations = [...spiking, ...calm].map((slug) => `{ slug: ${slug}, labels: ${labels} }`);
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *", whenNoEvents: ok }
organizations: [${organizations.join(", ")}]
alerting: { groupWait: 100ms, fleet: false }
receivers: [{ name: ops, type: log }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const runs = (text.match(/^flatline_check_up\{.*\} 1$/gm) ?? []).length;
    return runs === spiking.length + calm.length && (await listAlerts()).length === spiking.length;
  });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

async function listAlerts(): Promise<readonly { readonly slug: string; readonly acknowledged: boolean }[]> {
  const answer = await fetch(`${url}/api/v1/alerts`, { headers: bearer });
  return ((await answer.json()) as { alerts: { slug: string; acknowledged: boolean }[] }).alerts;
}

async function silenced(): Promise<string[]> {
  const answer = await fetch(`${url}/api/v1/silences`, { headers: bearer });
  return ((await answer.json()) as { slug: string }[]).map(({ slug }) => slug).toSorted();
}

/** The overview of somebody who has given the token, once all rows are there. */
async function open(path = "/"): Promise<Page> {
  const page = await browser.open(url + path, { viewport: { width: 1_440, height: 900 } });
  await signIn(page, token);
  await page.locator("#pages").waitFor({ state: "detached" });
  return page;
}

const pick = (page: Page, slug: string) => page.getByRole("checkbox", { name: `Select ${slug}`, exact: true });
const selected = async (page: Page): Promise<string> =>
  (await page.locator("#picked").innerText()).replaceAll(/\s+/g, " ").trim();

describe("organizations that are selected on the overview", () => {
  it("are counted in a bar, a range with Shift, all that the filter shows by the head", async () => {
    const page = await open();
    await pick(page, "acme").check();
    await pick(page, "initech").click({ modifiers: ["Shift"] });
    expect(await selected(page)).toBe("3 selected 3 fail");
    expect(await axeViolations(page)).toEqual([]);

    await page.locator("#q").fill("calm");
    await page.locator("#picked", { hasText: "3 of them are not shown" }).waitFor();
    await page.locator("[data-pick-all]").check();
    expect(await selected(page)).toBe("203 selected 3 fail, 200 ok; 3 of them are not shown");

    // Most of them are drawn only when they are scrolled to.
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await pick(page, "calm-199").waitFor();
    expect(await pick(page, "calm-199").isChecked()).toBe(true);
    await page.locator("h1").click();
    await page.keyboard.press("Escape");
    expect(await page.locator("#bulkbar").isHidden()).toBe(true);
    expect(await page.locator("#q").inputValue()).toBe("calm");
    expect(browser.complaints).toEqual([]);
  });

  it("are acknowledged where they have an alert, and the page says what was done", async () => {
    const page = await open();
    for (const slug of ["acme", "globex", "calm-000"]) await pick(page, slug).check();
    await page.locator("#bulkbar button", { hasText: "Acknowledge…" }).click();
    const dialog = page.locator("dialog");
    expect(await dialog.locator("h2").textContent()).toBe("Acknowledge 2 alerts?");
    expect(await dialog.locator(".who li").allTextContents()).toEqual([
      "2 that no one has acknowledged",
      "1 organization has no alert",
    ]);
    await dialog.locator("button.primary").click();
    await page.locator("#did", { hasText: "2 acknowledged." }).waitFor();

    expect(await page.locator("#did").isVisible()).toBe(true);
    expect(await page.locator("#bulkbar").isHidden()).toBe(true);
    const acknowledged = (await listAlerts()).filter((alert) => alert.acknowledged).map(({ slug }) => slug);
    expect(acknowledged.toSorted()).toEqual(["acme", "globex"]);
    await page.locator("tr.row", { hasText: "acme" }).locator(".c-alert", { hasText: "acknowledged" }).waitFor();
  });

  it("are silenced with or without an alert, a whole group by its box", async () => {
    const page = await open("/?group=severity");
    await page.locator("#q").fill("umbrella");
    await page.getByRole("checkbox", { name: "Select all: fail", exact: true }).check();
    expect(await selected(page)).toBe("1 selected 1 fail");
    await page.locator("#q").fill("calm-001");
    await page.getByRole("checkbox", { name: "Select all: ok", exact: true }).check();
    await page.locator("#bulkbar button", { hasText: "Silence…" }).click();
    await page.locator("dialog [name=comment]").fill("resolver is being rolled back");
    await page.locator("dialog button.primary").click();
    await page.locator("#did", { hasText: "2 silenced." }).waitFor();

    expect(await silenced()).toEqual(["calm-001", "umbrella"]);
    expect(browser.complaints).toEqual([]);
  });
});

describe("the keys a, e and s", () => {
  it("open the dialog of what is selected, or of the organization that is shown, and change nothing", async () => {
    const page = await open();
    const before = [await listAlerts(), await silenced()];
    const title = page.locator("dialog h2");
    await page.keyboard.press("a");
    await pick(page, "initech").check();
    for (const [key, expected] of [
      ["a", "Acknowledge 1 alert?"],
      ["e", "What was this alert?"],
      ["s", "Silence 1 organization?"],
    ] as const) {
      await page.keyboard.press(key);
      expect(await title.textContent()).toBe(expected);
      const texts = page.locator("dialog textarea, dialog input[type=text]");
      for (const text of await texts.all()) expect(await text.inputValue()).not.toBe(key);
      await page.locator("dialog button[value=no]").click();
      await title.waitFor({ state: "detached" });
    }

    await page.goto(`${url}/o/initech`);
    await page.keyboard.press("a");
    expect(await title.textContent()).toBe("Acknowledge 1 alert?");
    await page.locator("dialog button[value=no]").click();
    expect([await listAlerts(), await silenced()]).toEqual(before);
  });
});

describe("the labels of a row", () => {
  it("are never cut: the last ones are left out", async () => {
    const page = await open();
    const parts = (await page.evaluate(`[...document.querySelectorAll("tr.row")].slice(0, 10).map((row) => {
      const box = row.querySelector(".labels").getBoundingClientRect();
      return [...row.querySelectorAll(".labels > span")].map((label) => {
        const { top, right } = label.getBoundingClientRect();
        return { text: label.textContent, isShown: top < box.bottom - 1, isWhole: right <= box.right + 0.5 };
      });
    })`)) as { text: string; isShown: boolean; isWhole: boolean }[][];

    for (const labels of parts) {
      const shown = labels.filter(({ isShown }) => isShown);
      expect(shown.length).toBeGreaterThan(0);
      expect(shown.length).toBeLessThan(labels.length);
      expect(shown.every(({ isWhole }) => isWhole)).toBe(true);
      expect(labels.slice(0, shown.length)).toEqual(shown);
    }
  });
});

describe("on a phone", () => {
  it.each(["/", "/alerts"])("the first row of %s stands in the upper half of the screen", async (path) => {
    const page = await browser.open(url + path, { extraHTTPHeaders: bearer, viewport: { width: 390, height: 844 } });
    await page.locator("tr.row").first().waitFor();

    expect(await page.evaluate("document.querySelector('tr.row').getBoundingClientRect().top")).toBeLessThan(422);
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  });
});
