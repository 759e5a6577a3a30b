import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { axeViolations, useBrowser } from "../../support/browser.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const token = "let-me-in-to-test";
const authorized = { extraHTTPHeaders: { authorization: `Bearer ${token}` } };

const folder = useDaemonFolder();
const browser = useBrowser();
let good: HttpSink;
let gone: HttpSink;

beforeAll(async () => {
  good = await startHttpSink((response) => response.writeHead(204).end());
  gone = await startHttpSink((response) => response.writeHead(410).end());
  await folder.configure(`
organizations: [acme]
alerting: { groupWait: 0s, fleet: false }
receivers:
  - { name: ops, type: webhook, url: "${good.url}" }
  - { name: "old hook", type: webhook, url: "${gone.url}" }
  - { name: spare, type: log, match: { slug: nobody } }
server:
  listen: "${folder.listen}"
  token: "${token}"
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.start();
  await eventually(() => good.requests.length > 0 && gone.requests.length > 0);
});
afterAll(async () => {
  await good?.close();
  await gone?.close();
});

const test = (receiver: string): Promise<Response> =>
  fetch(`${folder.url}/api/v1/receivers/${encodeURIComponent(receiver)}/test`, {
    method: "POST",
    headers: authorized.extraHTTPHeaders,
  });

async function testsInAudit(): Promise<{ actor: string; subject: string; detail: object }[]> {
  const answer = await fetch(`${folder.url}/api/v1/audit`, { headers: authorized.extraHTTPHeaders });
  const { entries } = (await answer.json()) as {
    entries: { action: string; actor: string; subject: string; detail: object }[];
  };
  return entries.filter(({ action }) => action === "receiver.test");
}

describe("POST /api/v1/receivers/{name}/test", () => {
  it("sends a marked test now, says what the receiver answered, and is in the audit once", async () => {
    const before = good.requests.length;

    const accepted = await test("ops");
    const refused = await test("old hook");

    expect(accepted.status).toBe(200);
    expect(await accepted.json()).toEqual({
      receiver: "ops",
      accepted: true,
      deliveries: [{ recipient: null, outcome: "accepted", detail: "HTTP 204" }],
    });
    expect(await refused.json()).toMatchObject({ accepted: false, deliveries: [{ outcome: "rejected" }] });
    const sent = good.requests.slice(before).map(({ body }) => JSON.parse(body) as { alerts: { event: string }[] });
    expect(sent.map(({ alerts }) => alerts.map(({ event }) => event))).toEqual([["test"]]);
    expect(await testsInAudit()).toMatchObject([
      { actor: "token", subject: "old hook", detail: { accepted: 0, of: 1 } },
      { actor: "token", subject: "ops", detail: { accepted: 1, of: 1 } },
    ]);
  });
});

const rowsOf = (page: Page): Promise<string[]> => page.locator("#deliveries tbody tr").allInnerTexts();

describe("the page of receivers", () => {
  it("says who accepts, who was never tried, and what was sent, newest first", async () => {
    const page = await browser.open(`${folder.url}/receivers`, authorized);

    expect((await page.locator("h1").innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /^1 of 3 receivers accepts notifications\. old hook gave up 1 notification\.$/,
    );
    expect(await page.locator("tr", { hasText: "spare" }).first().innerText()).toContain("never tried");
    const all = await rowsOf(page);
    expect(all.some((row) => /ops.*incident 1.*accepted.*HTTP 204/s.test(row))).toBe(true);
    expect(all.some((row) => /old hook.*incident 1.*refused.*HTTP 410/s.test(row))).toBe(true);
  });

  it("sends a test at the press of a button, and says what it answered", async () => {
    const page = await browser.open(`${folder.url}/receivers`, authorized);
    const before = gone.requests.length;

    await page.getByRole("button", { name: "Send a test to old hook" }).click();
    const dialog = page.locator("dialog:modal");
    await dialog.locator("dd", { hasText: "refused it: HTTP 410" }).waitFor();
    expect(gone.requests.length).toBe(before + 1);
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole("link", { name: "Close" }).click();
    await expect.poll(async () => (await rowsOf(page))[0]).toMatch(/old hook.*a test.*refused/s);
  });

  it("tries again what gave up, and discards it, asked before, without scripts too", async () => {
    const page = await browser.open(`${folder.url}/receivers`, { ...authorized, javaScriptEnabled: false });
    const again = page.getByRole("button", { name: "Try again incident 1 to old hook" });
    await again.click();
    expect(await page.locator("#did").innerText()).toBe("1 tried again.");
    await eventually(async () => {
      await page.goto(`${folder.url}/receivers`);
      return (await again.count()) === 1;
    });

    const scripted = await browser.open(`${folder.url}/receivers`, authorized);
    await scripted.getByRole("link", { name: "Discard… incident 1 to old hook" }).click();
    await scripted.locator("dialog:modal", { hasText: "Discard this notification?" }).waitFor();
    await page.goto(`${folder.url}/receivers/discard?receiver=old+hook`);
    expect(await page.locator("h1").innerText()).toBe("Discard all that old hook gave up?");
    await page.getByRole("button", { name: "Discard" }).click();
    expect(await page.locator("#did").innerText()).toBe("1 discarded.");
    expect(await page.locator("#main").innerText()).toContain("Nothing waits, and nothing was given up.");

    await scripted.locator("dialog:modal").getByRole("button", { name: "Discard" }).click();
    await scripted.locator(".error", { hasText: "No notification that waits or gave up has this id." }).waitFor();
    // The browser says of its own accord that a form was refused.
    browser.forgive(0);
  });
});
