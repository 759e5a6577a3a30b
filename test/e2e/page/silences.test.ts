import { beforeAll, describe, expect, it } from "vitest";

import { axeViolations, useBrowser, textAt } from "../../support/browser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";

const token = "let-me-in";
const bearer = { authorization: `Bearer ${token}` };
const authorized = { extraHTTPHeaders: bearer };
const dayMs = 86_400_000;
// In three days, whatever today is: the recurring silence does not hold during the test.
const weekday = (new Date().getUTCDay() + 3) % 7;

const folder = useDaemonFolder();
const browser = useBrowser();

async function silence(body: Record<string, string>): Promise<void> {
  const endsAt = new Date(Date.now() + dayMs).toISOString();
  const answer = await fetch(`${folder.url}/api/v1/silences`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json" },
    body: JSON.stringify({ endsAt, ...body }),
  });
  expect(answer.status).toBe(201);
}

beforeAll(async () => {
  await folder.configure(`
defaults: { schedule: "0 0 1 1 *" }
organizations: [acme, globex, umbra-a, umbra-b, "*", "gone-*"]
silences: [{ schedule: "0 2 * * ${weekday}", duration: 2h, slug: "*", comment: database maintenance }]
server: { listen: "${folder.listen}", token: "${token}" }
`);
  await folder.start();
  await silence({ slug: "umbra-*", comment: "contract ended", createdBy: "Dana Reyes" });
  await silence({
    slug: "globex",
    comment: "<i>clean-up</i>",
    startsAt: new Date(Date.now() + dayMs / 2).toISOString(),
  });
});

describe("the page of silences", () => {
  it("says what is held back, and lists by what holds, comes and is over", async () => {
    const page = await browser.open(`${folder.url}/silences`, authorized);

    expect(await textAt(page, "h1")).toBe(
      "1 silence holds back the messages of 2 organizations. No alert fires under it.",
    );
    expect(await page.locator("tbody td:first-child").allInnerTexts()).toEqual(["active", "to come", "to come"]);
    expect(await textAt(page, "tr.active")).toContain("2 organizations, nothing fires");
    expect(await textAt(page, "tr.active")).toContain("Dana Reyes (token)");
    expect(await page.locator("tr.pending", { hasText: "database maintenance" }).innerText()).toContain(
      "change it in the file",
    );
    expect(await page.locator("tr.pending i").count()).toBe(0);
  });

  it("makes one, offers to make it again, and ends it", async () => {
    const page = await browser.open(`${folder.url}/silences`, authorized);
    await page.getByRole("link", { name: "Silence…" }).click();
    const dialog = page.locator("dialog:modal");
    await dialog.locator("[name=slug]").fill("acmee");
    await dialog.locator("[name=comment]").fill("moving the checker");
    await dialog.locator("button.primary").click();
    await dialog.locator(".error", { hasText: "No organization is called acmee. Did you mean acme?" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.locator("[name=slug]").fill("acme");
    await dialog.getByLabel(/^1 h/).check();
    expect(await dialog.locator("[name=comment]").inputValue()).toBe("moving the checker");
    await dialog.locator("button.primary").click();
    await page.locator("#did", { hasText: "Silenced until" }).waitFor();

    const active = page.locator("tr.active", { hasText: "moving the checker" });
    await active.getByRole("link", { name: "Again…" }).click();
    await dialog.waitFor();
    expect(await dialog.locator("[name=comment]").inputValue()).toBe("moving the checker");
    await page.keyboard.press("Escape");
    await active.getByRole("button", { name: "End now" }).click();
    await page.locator("tr.expired", { hasText: "moving the checker" }).waitFor();
    // The browser says of its own accord that a form was refused.
    browser.forgive(0);
  });

  it("silences by its name an organization whose name has a *", async () => {
    const page = await browser.open(`${folder.url}/silences/new?slug=${encodeURIComponent("gone-\\*")}`, authorized);
    await page.locator("[name=comment]").fill("it is gone");
    await page.locator("button.primary").click();
    await page.waitForURL(/\/silences\?did=/);

    const row = page.locator("tr.active", { hasText: "it is gone" });
    expect(await row.locator("td").nth(2).innerText()).toBe("1 organization, nothing fires");
    expect(await row.locator("th a").innerText()).toBe("gone-*");
  });

  it("is done without scripts as well, and says what is missing", async () => {
    const page = await browser.open(`${folder.url}/silences`, { ...authorized, javaScriptEnabled: false });
    await page.getByRole("link", { name: "Silence…" }).click();
    await page.locator("[name=slug]").fill("globax");
    await page.locator("[name=comment]").fill("by hand");
    await page.locator("button.primary").click();
    expect(await textAt(page, ".error")).toBe("No organization is called globax. Did you mean globex?");
    await page.locator("[name=slug]").fill("globex");
    await page.locator("button.primary").click();

    expect(await textAt(page, "#did")).toMatch(/^Silenced until .*\.$/);
    const row = page.locator("tr.active", { hasText: "by hand" });
    await row.getByRole("button", { name: "End now" }).click();
    expect(await textAt(page, "#did")).toBe("The silence has ended.");
    browser.forgive(0);
  });
});
