import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { axeViolations, startBrowser, type TestBrowser, fillSignIn, signIn } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const token = "let-me-in";
const bearer = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const dayMs = 86_400_000;

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

async function silence(body: Record<string, string>): Promise<void> {
  const endsAt = new Date(Date.now() + dayMs).toISOString();
  const answer = await fetch(`${url}/api/v1/silences`, {
    method: "POST",
    headers: bearer,
    body: JSON.stringify({ endsAt, ...body }),
  });
  expect(answer.status).toBe(201);
}

beforeAll(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *" }
organizations: [acme, globex, umbra-a, umbra-b, "*", "gone-*"]
silences: [{ schedule: "0 2 * * 6", duration: 2h, slug: "*", comment: database maintenance }]
server: { listen: "127.0.0.1:0", token: "${token}" }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  browser = await startBrowser();
  await silence({ slug: "umbra-*", comment: "contract ended" });
  await silence({
    slug: "globex",
    comment: "<i>clean-up</i>",
    startsAt: new Date(Date.now() + dayMs / 2).toISOString(),
  });
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

const authorized = { extraHTTPHeaders: { authorization: `Bearer ${token}` } };

describe("the page of silences", () => {
  it("says what is held back, and lists by what holds, comes and is over", async () => {
    const page = await browser.open(`${url}/silences`, authorized);

    expect(await page.locator("h1").textContent()).toBe(
      "1 silence holds back the messages of 2 organizations. No alert fires under it.",
    );
    const groups = await page.locator(".group th").allInnerTexts();
    expect(groups.map((text) => text.trim())).toEqual(["Active 1", "To come 2"]);
    expect(await page.locator("tr.active").innerText()).toContain("2 organizations, nothing fires");
    expect(await page.locator("tr.pending", { hasText: "database maintenance" }).innerText()).toContain(
      "change it in the file",
    );
    expect(await page.locator("tr.pending i").count()).toBe(0);
  });

  it("filters by words", async () => {
    const page = await browser.open(`${url}/silences`, authorized);

    await page.locator("#q").fill("umbra ended");
    expect(await page.locator("tr[data-words]:visible").count()).toBe(1);
    await page.locator("#q").fill("umbra nothing");
    expect(await page.locator("[data-away]").textContent()).toBe("Nothing matches «umbra nothing».");
  });

  it("makes one, which the organization's page shows, and ends it there", async () => {
    const page = await browser.open(url);
    await page.locator(".pagesnav a[data-page=silences]").click();
    await fillSignIn(page, token);
    await page.locator("[data-do=silence-new]").click();
    await page.locator("dialog [name=slug]").fill("acmee");
    await page.locator("dialog button.primary").click();
    await page
      .locator("dialog .problem-line", { hasText: "No organization is called acmee. Did you mean acme?" })
      .waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.locator("dialog [name=slug]").fill("acme");
    await page.locator("dialog button.primary").click();
    await page.locator("dialog .problem-line", { hasText: "Write why" }).waitFor();
    await page.locator("dialog label", { hasText: /^1 h$/ }).click();
    expect(await page.locator("dialog button.primary").innerText()).toBe("Silence for 1\u00a0h");
    await page.locator("dialog [name=comment]").fill("moving the checker");
    await page.locator("dialog button.primary").click();
    await page.locator("#did", { hasText: "Silenced until" }).waitFor();
    await page.locator("tr.active", { hasText: "moving the checker" }).waitFor();

    const active = page.locator("tr.active", { hasText: "moving the checker" });
    const endsAtMs = async (): Promise<number> => Number(await active.locator("[data-ends]").getAttribute("data-ends"));
    const before = await endsAtMs();
    await active.locator("[data-do=silence-change]").click();
    await page.locator("dialog h2", { hasText: "Extend the silence of acme?" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.locator("dialog label", { hasText: /^24 h$/ }).click();
    await page.locator("dialog button.primary", { hasText: "Extend by 24\u00a0h" }).click();
    await eventually(async () => (await endsAtMs()) === before + dayMs);

    await page.goto(`${url}/o/acme`);
    await page.locator(".silenced", { hasText: "«moving the checker»" }).waitFor();
    await page.locator(".silenced [data-do=silence-change]").click();
    await page.locator("dialog [name=comment]").fill("still moving it");
    await page.locator("dialog button.primary").click();
    await page.locator(".silenced", { hasText: "«still moving it»" }).waitFor();
    await page.locator(".silenced [data-do=silence-end]").click();
    await page.locator(".silenced").waitFor({ state: "detached" });
    await page.goto(`${url}/silences`);
    await page.locator("tr.expired", { hasText: "still moving it" }).waitFor();
  });

  it.each([
    [
      "the page of the organization",
      "*",
      async (page: Page): Promise<void> => {
        await page.goto(`${url}/o/*`);
        await page.locator("[data-do=silence]").click();
      },
    ],
    [
      "what is selected on the overview",
      "gone-*",
      async (page: Page): Promise<void> => {
        await page.goto(url);
        await page.getByRole("checkbox", { name: "Select gone-*", exact: true }).check();
        await page.locator("#bulkbar button", { hasText: "Silence…" }).click();
      },
    ],
  ])("silences by its name an organization whose name has a *: %s", async (why, slug, ask) => {
    const page = await browser.open(url);
    await signIn(page, token);
    await ask(page);
    await page.locator("dialog [name=comment]").fill(why);
    await page.locator("dialog button.primary").click();
    await page.locator("#did", { hasText: /silenced/i }).waitFor();

    const list = await browser.open(`${url}/silences`, authorized);
    const row = list.locator("tr.active", { hasText: why });
    expect(await row.locator(".s-holds").textContent()).toBe("1 organization, nothing fires");
    expect(await row.locator(".s-what a").textContent()).toBe(slug);
  });

  it("shows a reader without a token that it is silenced, not why", async () => {
    const page = await browser.open(`${url}/o/umbra-a`);

    const panel = await page.locator(".silenced").innerText();
    expect(panel).toContain("Silenced until");
    expect(panel).not.toContain("contract ended");
  });

  it.each([
    ["light", 1_440],
    ["dark", 1_440],
    ["light", 390],
    ["dark", 390],
  ] as const)("has no violation and scrolls not sideways: %s, %i px", async (colorScheme, width) => {
    const page = await browser.open(`${url}/silences`, {
      ...authorized,
      colorScheme,
      viewport: { width, height: 900 },
    });

    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  });

  it("no page complained", () => {
    expect(browser.complaints).toEqual([]);
  });
});
