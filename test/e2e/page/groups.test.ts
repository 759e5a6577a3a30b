import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { axeViolations, startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  const lines: string[] = [];
  for (const [team, count, spiking] of [
    ["core", 3, 0],
    ["fraud", 12, 9],
    ["trust", 4, 1],
  ] as const)
    for (let index = 0; index < count; index++) {
      const slug = `${team}-${String(index).padStart(2, "0")}`;
      await folder.addDeaths(slug, { lastHour: index < spiking ? 100 : 1, perDay: 1 });
      lines.push(`  - { slug: ${slug}, labels: { team: ${team}, id: "${slug}" } }`);
    }
  await folder.addDeaths("lone", { lastHour: 1, perDay: 1 });
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *" }
organizations:
${lines.join("\n")}
  - lone
alerting: { fleet: false }
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => {
    const checks = (await (await fetch(`${url}/api/v1/checks`)).json()) as { lastRunAt: string | null }[];
    return checks.length === 20 && checks.every(({ lastRunAt }) => lastRunAt !== null);
  });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

const textsOf = async (path: string): Promise<string[]> => {
  const html = await (await fetch(url + path)).text();
  return [...html.matchAll(/<tr class="(?:group|row|rest)[^>]*>(.*?)<\/tr>/gs)].map(([, cells = ""]) =>
    cells
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
};

describe("the overview, grouped by a label", () => {
  it("has a line with sums for each value, those with failures first, those without the label last", async () => {
    const lines = (await textsOf("/?group=team&open=")).map((line) => line.replace(/^▸ /, ""));

    expect(lines).toEqual([
      "team fraud 12 9 fail 3 ok 903 12.0 75.3×",
      "team trust 4 1 fail 3 ok 103 4.0 25.8×",
      "team core 3 3 ok 3 3.0 1.0×",
      "without team 1 1 ok 1 1.0 1.0×",
    ]);
  });

  it("opens what fails at first: some of its rows, and the filter that finds the rest", async () => {
    const lines = await textsOf("/?group=team");

    expect(lines.filter((line) => line.startsWith("fail"))).toHaveLength(7);
    expect(lines.find((line) => line.includes("more"))).toBe("3 more that are not ok, 3 that are ok");
    expect(await (await fetch(`${url}/?group=team`)).text()).toContain('href="/?q=team%3Dfraud"');
  });

  it("opens and closes in the browser, keeps that in the address, and follows the filter", async () => {
    const page = await browser.open(url);
    await page.locator("#groupby a", { hasText: "team" }).click();
    await page.locator("tr.group").nth(3).waitFor();
    expect(await page.locator("#groupby a").allTextContents()).toEqual(["none", "id", "team", "severity"]);
    await page.locator("tr.group a", { hasText: "team core" }).click();
    await page.locator("tr.row", { hasText: "core-02" }).waitFor();
    await page.locator("tr.group a", { hasText: "team fraud" }).click();
    await page.locator("tr.row", { hasText: "fraud-00" }).waitFor({ state: "detached" });

    await page.waitForURL(/\?group=team&open=trust&open=core$/);
    expect(await page.locator("tr.group a", { hasText: "team core" }).getAttribute("aria-expanded")).toBe("true");
    expect(await axeViolations(page)).toEqual([]);
    await page.locator("#q").fill("trust");
    await page.locator("tr.group", { hasText: "team core" }).waitFor({ state: "detached" });
    await page.locator("#groupby a", { hasText: "none" }).click();
    await page.locator("tr.group").first().waitFor({ state: "detached" });
    expect(await page.locator("tr.row").count()).toBe(4);
    expect(browser.complaints).toEqual([]);
  });

  it("fits a phone: counters in one row, groups without their sums, nothing that scrolls sideways", async () => {
    const page = await browser.open(`${url}/?group=team`, { viewport: { width: 390, height: 844 } });
    await page.locator("tr.group").first().waitFor();

    const tops = await page.evaluate(
      '[...document.querySelectorAll("#counters .counter")].map((one) => one.getBoundingClientRect().top)',
    );
    expect(new Set(tops as number[]).size).toBe(1);
    expect(await page.locator("tr.group .c-count").first().isVisible()).toBe(false);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    expect(await axeViolations(page)).toEqual([]);
  });
});
