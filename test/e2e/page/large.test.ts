import { afterAll, beforeAll, expect, it } from "vitest";

import { startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const organizations = 2_000;
const drawnRows = `(() => {
  const rows = [...document.querySelectorAll("tr.row")];
  return {
    y: scrollY,
    height: document.documentElement.scrollHeight,
    rowHeights: [...new Set(rows.map((row) => row.getBoundingClientRect().height))],
    from: rows.at(0)?.ariaRowIndex,
    to: rows.at(-1)?.ariaRowIndex,
  };
})()`;

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  const slugs = Array.from({ length: organizations }, (_, index) => `organization-${String(index).padStart(4, "0")}`);
  await folder.configure(`
source: { type: embedded, concurrency: 64 }
defaults: { schedule: "0 0 1 1 *", whenNoEvents: ok }
organizations: [${slugs.join(", ")}]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
  const app = await folder.start();
  url = app.address()?.url ?? "";
  await eventually(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return (text.match(/^flatline_check_up\{.*\} 1$/gm) ?? []).length === organizations;
  }, 50_000);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

it("keeps the position in the list for who comes back to it", async () => {
  const page = await browser.open(url);
  await page.locator("#pages").waitFor({ state: "detached" });
  await page.evaluate("scrollTo(0, 40000)");
  await page
    .locator('tr.row[aria-rowindex="1110"]')
    .waitFor()
    .catch(async (cause: unknown) => {
      // What is drawn instead depends on the height of a row, and on where the list begins.
      throw new Error(`drawn is ${JSON.stringify(await page.evaluate(drawnRows))}`, { cause });
    });
  await eventually(async () => (await page.evaluate("Number(sessionStorage.getItem('flatline-place /'))")) === 40_000);
  const link = page.locator("tr.row a").nth(20);
  const slug = await link.textContent();
  await link.click();
  await page.locator("h1", { hasText: slug ?? "" }).waitFor();
  await page.goBack();

  await eventually(async () => (await page.evaluate("scrollY")) === 40_000);
  await page.locator("tr.row", { hasText: slug ?? "" }).waitFor();
  expect(browser.complaints).toEqual([]);
});

it("draws the rows that are seen, whatever is filtered or scrolled, and the server a page of a hundred", async () => {
  const page = await browser.open(url);
  await page.locator("#pages").waitFor({ state: "detached" });

  const drawn = (await page.evaluate(`(async () => {
    const search = document.querySelector("#q");
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const counts = [];
    for (const text of ["o", "organization-1", "organization-1999", "9", ""]) {
      search.value = text;
      search.dispatchEvent(new Event("input", { bubbles: true }));
      counts.push(document.querySelectorAll("tr.row").length);
    }
    for (let step = 1; step <= 20; step++) {
      scrollTo(0, step * 3000);
      await frame();
      counts.push(document.querySelectorAll("tr.row").length);
    }
    return counts;
  })()`)) as number[];
  const served = await (await fetch(url)).text();

  expect(Math.max(...drawn)).toBeLessThan(150);
  expect(drawn[2]).toBe(1);
  expect(served.match(/class="row /g)).toHaveLength(100);
  expect(browser.complaints).toEqual([]);
});
