import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createSystemClock, hourMs, minuteMs } from "../../../src/base/time.ts";
import { axeViolations, startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const clock = createSystemClock();
const bearer = { authorization: "Bearer t" };
const asset = "https://login.acme.example";

let folder: DaemonFolder;
let browser: TestBrowser;
let url: string;

const configure = (failMultiplier: number): Promise<void> =>
  folder.configure(`
source: { type: embedded }
defaults:
  schedule: "0 0 1 1 *"
  sentinel: { schedule: "0 0 1 1 *" }
  eventFlow: { schedule: "0 0 1 1 *", maxSilence: 2h }
  thresholds: { failMultiplier: ${failMultiplier} }
organizations:
  - { slug: acme, sentinel: { assets: ["${asset}", "https://www.acme.example"] }, eventFlow: { enabled: true } }
  - { slug: silent, eventFlow: { enabled: true } }
  - { slug: calm, receivers: [ops] }
receivers: [{ name: ops, type: log }, { name: other, type: log }]
server: { listen: "127.0.0.1:0", token: t }
storage: { path: flatline.db }
`);

const pageOf = async (path: string): Promise<string> => (await fetch(url + path)).text();
const textOf = (markup: string): string => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
const rowOf = (markup: string, slug: string): string =>
  textOf(new RegExp(`<tr class="row[^>]*data-slug="${slug}"[^]*?</tr>`).exec(markup)?.[0] ?? "");

beforeAll(async () => {
  folder = await makeDaemonFolder();
  for (const slug of ["acme", "calm", "silent"])
    await folder.addDeaths(slug, { lastHour: slug === "silent" ? 0 : 12, perDay: 12 });
  await folder.withStore((store) =>
    store.transaction(({ events }) =>
      events.add([
        {
          slug: "acme",
          assetType: "URL",
          asset,
          status: "DETECTED_AS_DEAD",
          id: null,
          count: 1,
          atMs: clock.nowMs() - minuteMs,
        },
      ]),
    ),
  );
  await configure(4);
  const app = await folder.start();
  url = app.address()?.url ?? "";
  await eventually(async () => {
    const checks = (await (await fetch(`${url}/api/v1/checks`)).json()) as { lastRunAt: string | null }[];
    return checks.length === 6 && checks.every(({ lastRunAt }) => lastRunAt !== null);
  });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

it("says what was marked in words, not on hover only", async () => {
  const body = JSON.stringify({ text: "captcha <rollout>", slug: "calm" });
  await fetch(`${url}/api/v1/markers`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json" },
    body,
  });

  expect(textOf(await pageOf("/o/calm"))).toMatch(/\d\d:\d\d Marked «captcha &#60;rollout&#62;»/);
});

describe("checks beside the spike check, on the pages", () => {
  it("an organization whose sentinel is called dead is a fail at first glance, and not a spike", async () => {
    const markup = await pageOf("/");

    expect(rowOf(markup, "acme")).toMatch(/^ fail .*acme.*sentinel fail/);
    expect(rowOf(markup, "silent")).toMatch(/^ fail .*event-flow fail/);
    expect(rowOf(markup, "calm")).toMatch(/^ ok /);
    expect(textOf(markup)).toContain("1 of 3 could not be checked. Other checks are not ok for 2 organizations");
    expect(textOf(markup)).toContain("2 fail");
    expect(await pageOf("/?severity=fail")).not.toContain('data-slug="calm"');
    expect(await pageOf("/?severity=ok")).not.toContain('data-slug="acme"');
  });

  it("its page says which check, since when and why, and what the others saw", async () => {
    const text = textOf(await pageOf("/o/acme"));

    expect(text).toMatch(/fail acme/);
    expect(text).toMatch(/13 deaths in 24.h, .* Ok for/);
    expect(text).toMatch(/sentinel fails since .*: 1 of 2 assets that are known to be alive is called dead\./);
    expect(text).toMatch(/Deaths are held : sentinel of acme has fired as fail since \d\d:\d\d: /);
    expect(text).not.toMatch(/\d{4}-\d\d-\d\dT/);
    expect(text).toMatch(/sentinel.assets 2 flatline.yaml:\d+/);
    // No address of an asset is one that opens.
    expect(text).toContain("hxxps://login[.]acme[.]example is known to be alive and was called dead");
    expect(text).toContain("sentinel: firing with fail");
    expect(text).toMatch(/event-flow ok/);
    expect(textOf(await pageOf("/o/calm"))).toMatch(/receivers ops flatline.yaml:\d+/);
  });

  it("the page of its alert says the same, and what to do", async () => {
    const { alerts } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
      alerts: readonly { readonly id: string; readonly check: string }[];
    };
    const text = textOf(await pageOf(`/alerts/${alerts.find(({ check }) => check === "sentinel")?.id}`));

    expect(text).toContain("hxxps://login[.]acme[.]example is known to be alive and was called dead");
    expect(text).toContain("Open the named assets by hand");
  });

  it("runs and acknowledges all of its checks", async () => {
    const page = await browser.open(`${url}/o/acme`);
    await page.locator("#stream", { hasText: /^live$/ }).waitFor();
    await page.locator("button[data-do=run]").click();
    await page.locator("dialog input[type=password]").fill("t");
    await page.keyboard.press("Enter");
    await page.locator("#did", { hasText: "It ran just now." }).waitFor();
    await page.locator("button[data-do=ack]").click();
    expect(await page.locator("dialog h2").textContent()).toMatch(/^Acknowledge \d alerts?\?$/);
    await page.locator("dialog button.primary").click();
    await page.locator("#did", { hasText: /^\d acknowledged\.$/ }).waitFor();

    expect(await page.locator("button[data-do=ack]").count()).toBe(0);
    const checks = (await (await fetch(`${url}/api/v1/checks`)).json()) as { slug: string; lastRunAt: string }[];
    const runs = checks.filter(({ slug }) => slug === "acme").map(({ lastRunAt }) => Date.parse(lastRunAt));
    const others = checks.filter(({ slug }) => slug !== "acme").map(({ lastRunAt }) => Date.parse(lastRunAt));
    expect(Math.min(...runs)).toBeGreaterThan(Math.max(...others));
  });

  it.each(["light", "dark"] as const)("axe finds nothing, %s", async (colorScheme) => {
    for (const path of ["/", "/o/acme", "/o/silent"]) {
      const page = await browser.open(url + path, { colorScheme });
      await page.locator("main").waitFor();

      expect(await axeViolations(page)).toEqual([]);
    }
    expect(browser.complaints).toEqual([]);
  });

  it.each([
    ["beside the thresholds where there is room for both", 1440, "beside"],
    ["before the thresholds on a phone", 390, "before"],
  ] as const)("the timeline stands %s", async (_where, width, expected) => {
    const page = await browser.open(`${url}/o/acme`, { viewport: { width, height: 844 } });
    const boxOf = (heading: string): Promise<{ x: number; y: number } | null> =>
      page.locator("h2", { hasText: heading }).first().boundingBox();
    const [timeline, thresholds] = [await boxOf("Timeline"), await boxOf("Thresholds")];

    expect(timeline !== null && thresholds !== null && timeline.y < thresholds.y).toBe(true);
    expect(timeline?.x === thresholds?.x ? "before" : "beside").toBe(expected);
  });

  it.each(["/", "/o/acme", "/o/silent"])("nothing scrolls sideways at 320 px: %s", async (path) => {
    const page = await browser.open(url + path, { viewport: { width: 320, height: 640 } });

    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  });
});

it("draws no calm past where nothing was looked at", async () => {
  const [, json = "{}"] = /<script type="application\/json" id="data">([^<]*)</.exec(await pageOf("/o/silent")) ?? [];
  const { chart } = JSON.parse(json) as { chart: { severity: string[] } };

  expect(new Set(chart.severity)).toEqual(new Set(["ok", "unknown"]));
  expect(chart.severity.filter((severity) => severity === "ok").length).toBeLessThan(12);
});

it("draws the past against the thresholds that held then", async () => {
  const chartOf = async (): Promise<{ at: number[]; expected: number[]; fail: number[] }> => {
    const [, json = "{}"] = /<script type="application\/json" id="data">([^<]*)</.exec(await pageOf("/o/calm")) ?? [];
    return (JSON.parse(json) as { chart: { at: number[]; expected: number[]; fail: number[] } }).chart;
  };
  const before = (await chartOf()).fail.at(-1) ?? 0;

  await configure(8);
  await fetch(`${url}/-/reload`, { method: "POST", headers: bearer });
  await fetch(`${url}/api/v1/checks/dead-asset-spike/calm/run`, { method: "POST", headers: bearer });
  const { at, fail, expected } = await chartOf();

  expect(before).toBeCloseTo((expected.at(-2) ?? 0) * 4);
  expect(fail.at(-2)).toBeCloseTo(before);
  expect(fail.at(-1)).toBeCloseTo(2 * before);
  expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeGreaterThan(hourMs);
});

it("an organization's page says so when the organization is removed", async () => {
  const page = await browser.open(`${url}/o/silent`);
  await page.locator("#stream", { hasText: /^live$/ }).waitFor();
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *" }
organizations: [calm]
server: { listen: "127.0.0.1:0", token: t }
storage: { path: flatline.db }
`);
  const answer = await fetch(`${url}/-/reload`, { method: "POST", headers: bearer });

  expect(answer.status).toBe(200);
  await page.locator("main", { hasText: "No such organization is configured." }).waitFor();
});
