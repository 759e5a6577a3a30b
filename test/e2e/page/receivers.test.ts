import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { axeViolations, startBrowser, type TestBrowser, fillSignIn } from "../../support/browser.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const token = "let-me-in-to-test";
const reader = "let-me-in-to-read";
const authorized = { extraHTTPHeaders: { authorization: `Bearer ${token}` } };

let browser: TestBrowser;
let folder: DaemonFolder;
let good: HttpSink;
let gone: HttpSink;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  good = await startHttpSink((response) => response.writeHead(204).end());
  gone = await startHttpSink((response) => response.writeHead(410).end());
  await folder.configure(`
source: { type: embedded }
organizations: [acme]
alerting: { groupWait: 0s, fleet: false }
receivers:
  - { name: ops, type: webhook, url: "${good.url}" }
  - { name: "old hook", type: webhook, url: "${gone.url}" }
server:
  listen: "127.0.0.1:0"
  token: "${token}"
  tokens: [{ name: reader, token: "${reader}", may: [read] }]
storage: { path: flatline.db }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  url = (await folder.start()).address()?.url ?? "";
  browser = await startBrowser();
  await eventually(() => good.requests.length > 0 && gone.requests.length > 0);
});
afterAll(async () => {
  await browser?.close();
  await folder?.close();
  await good?.close();
  await gone?.close();
});

const test = (receiver: string, by = token): Promise<Response> =>
  fetch(`${url}/api/v1/receivers/${encodeURIComponent(receiver)}/test`, {
    method: "POST",
    headers: { authorization: `Bearer ${by}` },
  });

async function testsInAudit(): Promise<{ actor: string; subject: string; detail: object }[]> {
  const answer = await fetch(`${url}/api/v1/audit`, { headers: { authorization: `Bearer ${token}` } });
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

  it.each([
    ["a receiver that is not configured", 404, "nobody", token],
    ["a token without the right", 403, "ops", reader],
    ["a wrong token", 401, "ops", "a-wrong-token-of-some-length"],
  ])("refuses %s: %i", async (_what, status, receiver, by) => {
    const before = [good.requests.length, (await testsInAudit()).length];

    expect((await test(receiver, by)).status).toBe(status);
    expect([good.requests.length, (await testsInAudit()).length]).toEqual(before);
  });
});

describe("the page of receivers", () => {
  it("shows what was sent, newest first, of all and of one receiver", async () => {
    const page = await browser.open(`${url}/receivers`, authorized);
    const rows = page.locator("section[aria-labelledby=attempts-h] tbody tr");

    const all = await rows.allInnerTexts();
    expect(all.some((row) => /ops.*acme.*accepted.*HTTP 204/s.test(row))).toBe(true);
    expect(all.some((row) => /old hook.*acme.*refused.*HTTP 410/s.test(row))).toBe(true);

    await page.locator("tbody th a", { hasText: "old hook" }).first().click();
    await expect.poll(() => page.locator("#attempts-h").textContent()).toBe("Last deliveries to old hook");
    expect(page.url()).toBe(`${url}/receivers?receiver=old%20hook`);
    expect((await rows.allInnerTexts()).every((row) => row.includes("old hook"))).toBe(true);
  });

  it("sends a test at the press of a button, and what it answered stays while the page is live", async () => {
    const page = await browser.open(`${url}/sign-in?next=/receivers`);
    await fillSignIn(page, token);
    const before = gone.requests.length;

    await page.locator('button[data-receiver="old hook"]').click();
    await expect.poll(() => page.locator("#did").textContent()).toContain("old hook did not accept the test: HTTP 410");
    expect(gone.requests.length).toBe(before + 1);

    await page.locator('button[data-receiver="ops"]').click();
    await expect.poll(() => page.locator("#did").textContent()).toBe("ops accepted the test: HTTP 204");
    const newest = page.locator("section[aria-labelledby=attempts-h] tbody tr").first();
    await expect.poll(() => newest.innerText()).toMatch(/ops.*a test.*accepted/s);
    expect(await page.locator("#did").textContent()).toBe("ops accepted the test: HTTP 204");
  });

  it.each([
    ["light", 1_440],
    ["dark", 1_440],
    ["light", 390],
    ["dark", 390],
  ] as const)("is accessible in %s at %i", async (colorScheme, width) => {
    const page = await browser.open(`${url}/receivers`, {
      ...authorized,
      colorScheme,
      viewport: { width, height: 900 },
    });

    expect(await axeViolations(page)).toEqual([]);
    const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    expect(isWide).toBe(false);
  });

  it("never complained on the console", () => {
    expect(browser.complaints).toEqual([]);
  });
});
