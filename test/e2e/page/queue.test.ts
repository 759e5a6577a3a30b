import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { startBrowser, type TestBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/program/program.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";

const token = "let-me-in-to-review";
const authorized = { extraHTTPHeaders: { authorization: `Bearer ${token}` } };
const hourMs = 3_600_000;

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

/** A report with a proposal for each asset. */
function report(id: number, slug: string, ageHours: number, assets: readonly number[], title?: string): object {
  return {
    id,
    organization: slug,
    createdAt: new Date(Date.now() - ageHours * hourMs).toISOString(),
    status: "TODO",
    source: "API",
    ...(title === undefined ? {} : { title }),
    reporter: { kind: "human", name: "Kim", organization: null },
    proposals: assets.map((assetId) => ({
      id: assetId - 200,
      assetId,
      decision: null,
      decidedBy: null,
      queue: "queued",
      resolved: false,
    })),
    scans: [{ id, assetId: assets[0], status: "DONE", at: "2026-01-15T10:01:00.000Z" }],
  };
}

beforeAll(async () => {
  folder = await makeDaemonFolder();
  const slugs = ["acme", "globex"];
  const fixture = {
    organizations: slugs.map((slug) => ({ slug, name: slug, brands: [] })),
    assets: [501, 502, 503, 504].map((id) => ({
      id,
      type: "URL",
      content: `https://login-${id}.example/signin`,
      status: "UNKNOWN",
    })),
    reports: [
      report(9001, "acme", 30, [501, 502], "Login page imitates <b>Acme</b>"),
      report(9002, "acme", 1, [503]),
      report(9003, "globex", 29, [504], "Slow one"),
    ],
  };
  await writeFile(join(folder.path, "fixture.yaml"), JSON.stringify(fixture));
  await folder.configure(`
source: { type: embedded, preload: [{ fixture: fixture.yaml }] }
defaults: { schedule: "0 0 1 1 *", reviewQueue: { enabled: true, schedule: "0 0 1 1 *" } }
organizations:
  - { slug: acme, labels: { team: trust } }
  - { slug: globex, reviewQueue: { warnAfter: 24h, failAfter: 240h } }
server: { listen: "127.0.0.1:0", token: "${token}" }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

it("is named on the page of its organization to who may read it, and to nobody else", async () => {
  const pages = await eventually(async () => {
    const { alerts } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
      alerts: readonly { readonly slug: string; readonly check: string }[];
    };
    if (!alerts.some(({ slug, check }) => slug === "acme" && check === "review-queue")) return null;
    const read = async (headers: Record<string, string>) => (await fetch(`${url}/o/acme`, { headers })).text();
    return { open: await read({}), closed: await read(authorized.extraHTTPHeaders) };
  });

  expect(pages.closed).toContain("9001");
  expect(pages.open).not.toContain("9001");
});

describe("the review queue in a browser", () => {
  const open = (query = "", options = {}): Promise<Page> =>
    browser.open(`${url}/queue${query}`, { ...authorized, ...options });
  const rows = async (page: Page): Promise<string[]> =>
    (await page.locator(".queue tbody tr:not(.group)").allInnerTexts()).map((row) => row.replaceAll(/\s+/g, " "));

  it("ranks by the thresholds of each organization, a row for each proposal", async () => {
    const page = await open();

    expect((await page.locator("h1").innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /^3 reports wait for the customer\. The oldest, acme 9001, since .*: 1 d 6 h \(fails from 24 h\)\.$/,
    );
    expect((await rows(page)).map((row) => row.trim().split(" ").slice(0, 2).join(" "))).toEqual([
      "fail acme",
      "fail acme",
      "warn globex",
      "ok acme",
    ]);
    expect(await page.locator(".tools").innerText()).toContain("4 proposals: 2 fail, 1 warn, 1 ok");
  });

  it("keeps those of an organization together when asked to, and the filter in the address", async () => {
    const page = await open("?q=team%3Dtrust");

    await page.getByRole("link", { name: "by organization" }).click();

    await page.locator(".queue .group").first().waitFor();
    expect(await page.locator(".queue .group").allInnerTexts()).toEqual(["acme 3 proposals"]);
    expect(page.url()).toBe(`${url}/queue?q=team%3Dtrust&by=organization`);
  });

  it.each([
    ["team=trust", 3],
    ["fail acme", 2],
    ["login-504", 1],
    ["imitates", 2],
  ])("filters by words: %s", async (words, count) => {
    expect(await rows(await open(`?q=${encodeURIComponent(words)}`))).toHaveLength(count);
  });

  it("says when nothing is left", async () => {
    const page = await open();

    await page.fill("#filter", "globex fail");

    await page.locator("text=No proposal matches «globex fail».").waitFor();
    expect(await page.locator("#filter").inputValue()).toBe("globex fail");
  });

  it("shows a proposal with its report, addresses broken and nothing as markup", async () => {
    const page = await open("", { javaScriptEnabled: false });
    const row = page.locator(".queue tbody tr").first();

    expect(await row.innerText()).toContain("hxxps://login-501[.]example/signin");
    expect(await page.locator(".queue b").count()).toBe(0);
    await row.locator("summary").click();
    const facts = (await row.locator("dl").innerText()).replaceAll("\u00a0", " ");
    for (const fact of ["TODO", "API", "Kim, human", "DONE", "302 undecided"]) expect(facts).toContain(fact);
    expect(await page.content()).not.toContain("https://login");
  });

  it("copies the command of its row", async () => {
    const page = await open();
    await page.evaluate(
      'Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void (window.copied = text) } })',
    );
    const row = page.locator(".queue tbody tr", { hasText: "globex" });

    await row.locator("summary").click();
    await row.getByRole("button", { name: "Copy" }).click();

    await row.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("window.copied")).toBe(
      "flatline proposals review 304 --slug globex --asset-id 504 --decision ",
    );
  });

  it("never complained on the console", () => {
    expect(browser.complaints).toEqual([]);
  });
});
