import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { axeViolations, startBrowser, type TestBrowser } from "../../support/browser.ts";
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
  it("ranks by the thresholds of each organization, a row for each proposal", async () => {
    const page = await browser.open(`${url}/queue`, authorized);

    expect(await page.locator("h1").innerText()).toMatch(
      /^3 reports wait for the customer\. The oldest, acme 9001, since .*: 1\sd 6\sh \(fails from 24\sh\)\.$/,
    );
    const rows = await page
      .locator("#queue tr[data-words]")
      .evaluateAll((all) => all.map((row) => (row.getAttribute("data-words") ?? "").split(" ").slice(0, 2).join(" ")));
    expect(rows).toEqual(["fail acme", "fail acme", "warn globex", "ok acme"]);
    expect(await page.locator(".tools .note").innerText()).toBe("4 proposals: 2 fail, 1 warn, 1 ok");
  });

  it("keeps those of an organization together when asked to", async () => {
    const page = await browser.open(`${url}/queue`, authorized);

    await page.locator(".switch a", { hasText: "by organization" }).click();

    await page.locator("#queue .group th").first().waitFor();
    expect(await page.locator("#queue .group th").allInnerTexts()).toEqual(["acme 3 proposals", "globex 1 proposal"]);
    expect(page.url()).toBe(`${url}/queue?by=organization`);
  });

  it("filters by words: organization, label, severity, asset, and says when nothing is left", async () => {
    const page = await browser.open(`${url}/queue`, authorized);
    const shown = page.locator("#queue tr[data-words]:visible");

    for (const [words, count] of [
      ["team=trust", 3],
      ["fail acme", 2],
      ["login-504", 1],
      ["imitates", 2],
      ["globex fail", 0],
    ] as const) {
      await page.locator("#q").fill(words);
      expect(await shown.count(), words).toBe(count);
    }
    expect(await page.locator("[data-away]").textContent()).toBe("Nothing matches «globex fail».");
  });

  it("keeps the filter in the address: over a reload, another order, and the way back", async () => {
    const page = await browser.open(`${url}/queue`, authorized);
    const shown = page.locator("#queue tr[data-words]:visible");

    await page.locator("#q").fill("team=trust");
    await page.waitForURL(/\?q=team%3Dtrust$/);
    await page.reload();
    expect(await page.locator("#q").inputValue()).toBe("team=trust");
    expect(await shown.count()).toBe(3);

    await page.getByRole("link", { name: "by organization" }).click();
    await page.waitForURL(/by=organization&q=team%3Dtrust$/);
    expect(await page.locator("#queue .group:visible").count()).toBe(1);
    expect(await shown.count()).toBe(3);
    await page.goBack();
    await page.waitForURL(/\/queue\?q=team%3Dtrust$/);
    // The way back loads the page again.
    await eventually(async () => (await page.locator("#q").inputValue()) === "team=trust");
    expect(await page.locator("#queue .group").count()).toBe(0);
    expect(await shown.count()).toBe(3);
    await page.goForward();
    await page.waitForURL(/by=organization&q=team%3Dtrust$/);
    await eventually(async () => (await page.locator("#queue .group:visible").count()) === 1);
    expect(await shown.count()).toBe(3);
  });

  it("shows a proposal with its report, addresses broken and nothing as markup", async () => {
    const page = await browser.open(`${url}/queue`, authorized);
    const row = page.locator("#queue tr[data-words]").first();

    expect(await row.innerText()).toContain("hxxps://login-501[.]example/signin");
    expect(await page.locator("#queue b").count()).toBe(0);
    await row.locator("summary").click();
    const facts = (await row.locator("dl").innerText()).replaceAll("\u00a0", " ");
    for (const fact of ["TODO", "API", "Kim, human", "DONE 15 Jan 10:01", "302 undecided"])
      expect(facts).toContain(fact);
    expect(await page.locator("#main").innerHTML()).not.toContain("https://login");
  });

  it("copies the command of its row", async () => {
    const page = await browser.open(`${url}/queue`, authorized);
    await page.evaluate(
      'Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void (window.copied = text) } })',
    );

    await page.locator("#queue tr[data-words]", { hasText: "globex" }).locator("button").click();

    await page.locator("#queue button", { hasText: "Copied" }).waitFor();
    expect(await page.evaluate("window.copied")).toBe(
      "flatline proposals review 304 --slug globex --asset-id 504 --decision ",
    );
    await expect.poll(() => page.locator("#queue button", { hasText: "Copied" }).count(), { timeout: 40_000 }).toBe(0);
  });

  it.each([
    ["light", 1_440],
    ["dark", 1_440],
    ["light", 390],
    ["dark", 390],
  ] as const)("is accessible in %s at %i", async (colorScheme, width) => {
    const page = await browser.open(`${url}/queue?by=organization`, {
      ...authorized,
      colorScheme,
      viewport: { width, height: 900 },
    });
    await page.locator("#queue summary").first().click();

    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  });

  it("never complained on the console", () => {
    expect(browser.complaints).toEqual([]);
  });
});
