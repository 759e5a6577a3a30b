import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { resultReport } from "../../support/check-reports.ts";
import { axeViolations, fillSignIn, startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

const token = "let-me-in";
const bearer = { authorization: `Bearer ${token}` };
const longSlug = "the-very-long-organization-name-that-somebody-gave-it-in-a-hurry-and-never-changed-again";

/** What the scripted service answers of an organization: a severity, or `error`. */
type Answer = "ok" | "warn" | "fail" | "error" | "unknown keys" | "empty map";
const answers = new Map<string, Answer>([
  ["acme", "ok"],
  ["globex", "warn"],
  ["initech", "fail"],
  ["odd-keys", "unknown keys"],
  ["no-keys", "empty map"],
  ["dark", "error"],
  ["quiet", "ok"],
  [longSlug, "ok"],
]);

let browser: TestBrowser;
let upstream: ScriptedUpstream;
let sink: HttpSink;
let folder: DaemonFolder;
let url: string;
let sinkStatus = 200;

function resultOf(slug: string): unknown {
  const answer = answers.get(slug) ?? "ok";
  const severity = answer === "unknown keys" || answer === "empty map" ? "fail" : answer === "error" ? "ok" : answer;
  const counts: Readonly<Record<string, Record<string, number>>> = {
    ok: { currentCount: 7, baselineCount: 30, expectedCount: 4.3, ratio: 1.6 },
    warn: { currentCount: 30, baselineCount: 70, expectedCount: 10, ratio: 3 },
    fail: { currentCount: 5_119, baselineCount: 78, expectedCount: 11.1, ratio: 459 },
    "unknown keys": { dead: 900, before: 3 },
  };
  return resultReport({ slug, severity, result: { observed: counts[answer] ?? {}, ok: severity === "ok" } }).result;
}

async function run(slug: string): Promise<void> {
  const answer = await fetch(`${url}/api/v1/checks/dead-asset-spike/${slug}/run`, { method: "POST", headers: bearer });
  expect(answer.status).toBe(200);
}

const rowOf = (page: Page, slug: string) => page.locator(`tr[data-slug="${slug}"]`);

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.otherwise((request) => {
    const { slug } = JSON.parse(request.body) as { slug: string };
    if (answers.get(slug) === "error")
      return { kind: "answer", status: 403, body: { message: "no", code: "FORBIDDEN" } };
    return { kind: "answer", body: resultOf(slug), headers: { "content-type": "application/json" } };
  });
  sink = await startHttpSink((response) => void response.writeHead(sinkStatus).end());
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: k, retries: 0 }
defaults: { schedule: "0 0 1 1 *", alert: { unknownAfter: 1 } }
organizations: [${[...answers.keys()].map((slug) => (slug === "globex" ? "{ slug: globex, labels: { team: trust } }" : slug)).join(", ")}]
alerting: { groupWait: 100ms, groupInterval: 1s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}/hook" }]
server: { listen: "127.0.0.1:0", token: "${token}" }
storage: { path: flatline.db }
`);
  const app = await folder.start();
  url = app.address()?.url ?? "";
  await eventually(async () => {
    const checks = (await (await fetch(`${url}/api/v1/checks`)).json()) as { lastRunAt: string | null }[];
    return checks.length === answers.size && checks.every(({ lastRunAt }) => lastRunAt !== null);
  });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
  await sink?.close();
  await upstream?.close();
});

describe("the overview in a browser", () => {
  it("shows an organization turn from ok to fail to ok while it is open", async () => {
    const page = await browser.open(url);
    await page.locator("#stream", { hasText: /^live$/ }).waitFor();

    expect(await rowOf(page, "acme").locator(".c-sev").textContent()).toContain("ok");

    answers.set("acme", "fail");
    await run("acme");
    await rowOf(page, "acme").locator(".c-sev", { hasText: "fail" }).waitFor();
    expect(await rowOf(page, "acme").locator(".c-count").textContent()).toBe("5,119");
    expect(await page.title()).toMatch(/spiking$/);
    expect(await page.locator("#live").textContent()).toContain("acme is now fail");

    expect(await rowOf(page, "acme").locator(".c-began time").textContent()).toMatch(/^\d\d:\d\d$/);

    answers.set("acme", "ok");
    await run("acme");
    await rowOf(page, "acme").locator(".c-sev", { hasText: "ok" }).waitFor();
    expect(await rowOf(page, "acme").locator(".c-began").innerText()).toBe("–");
  });

  it("keeps filter and order over a reload", async () => {
    const page = await browser.open(url);
    await page.locator("#stream", { hasText: /^live$/ }).waitFor();

    await page.locator("a[data-sort=slug]").click();
    await page.locator("#q").fill("trust");
    await page.waitForURL(/q=trust/);
    expect(new URL(page.url()).search).toBe("?q=trust&sort=slug");
    await page.reload();

    expect(await page.locator("tr.row").count()).toBe(1);
    expect(await rowOf(page, "globex").count()).toBe(1);
    expect(await page.locator("#q").inputValue()).toBe("trust");
    expect(await page.locator("th[aria-sort]").getAttribute("aria-sort")).toBe("ascending");

    await page.locator("#q").fill("nobody");
    await page.locator("#away", { hasText: "No organization matches «nobody». Clear the filter." }).waitFor();
  });

  it("is driven by keys", async () => {
    const page = await browser.open(url);
    await page.locator("#stream", { hasText: /^live$/ }).waitFor();

    await page.keyboard.press("2");
    await page.waitForURL(/severity=warn/);
    expect(await page.locator("tr.row").count()).toBe(1);
    await page.keyboard.press("2");
    await page.keyboard.press("j");
    expect(await page.evaluate(`document.activeElement.textContent`)).toBe("initech");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/o\/initech$/);
  });

  it("says so when there is no word from flatline, and counts nothing as fresh", async () => {
    const other = await makeDaemonFolder();
    await other.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *" }
organizations: [acme]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
    const app = await other.start();
    const page = await browser.open(app.address()?.url ?? "");
    await page.clock.install();
    await page.reload();
    await page.locator("#stream", { hasText: /^live$/ }).waitFor();
    const before = browser.complaints.length;

    await other.close();
    await page.locator("#stream", { hasText: /^reconnecting, last update \d+\ss ago$/ }).waitFor();
    expect(await page.locator("#stale").isHidden()).toBe(true);
    await page.clock.fastForward(61_000);
    await page.locator("#stale", { hasText: "This page is not live: no word from flatline since" }).waitFor();

    expect(await page.locator("tr.row").count()).toBe(1);
    await page.context().close();
    // What could not be fetched is what was asked for here.
    browser.forgive(before);
  });

  it("reads without JavaScript", async () => {
    const page = await browser.open(url, { javaScriptEnabled: false });

    expect(await page.locator("h1").textContent()).toContain("organizations spike");
    expect(await page.locator("tr.row").count()).toBe(answers.size);
    expect(await page.locator(".stream").textContent()).toContain("Reload to refresh; as of");
    await page.goto(`${url}/o/initech`);
    expect(await page.locator(".lead").textContent()).toContain("459 times as many");
    expect(await page.locator(".chart .l-count").count()).toBe(1);
  });
});

describe("a remote service that says little", () => {
  it.each([
    ["unknown keys", "odd-keys"],
    ["an empty map", "no-keys"],
  ])("with %s shows the severity and no number", async (_rule, slug) => {
    const page = await browser.open(url);
    const row = rowOf(page, slug);

    expect(await row.locator(".c-sev").textContent()).toContain("fail");
    expect(await row.locator(".c-count").textContent()).toBe("–");
    expect((await row.locator(".c-ratio").textContent())?.trim()).toBe("–");
    await page.goto(`${url}/o/${slug}`);
    expect(await page.locator(".lead").textContent()).toContain("The service says fail and gives no count.");
  });

  it("that refuses is unknown, with the reason", async () => {
    const page = await browser.open(`${url}/o/dark`);

    expect(await page.locator("h1").textContent()).toContain("unknown");
    expect(await page.locator(".lead").textContent()).toMatch(/^\s*No result since .*\(forbidden\)/);
  });
});

describe("the buttons", () => {
  it("silence an organization, after a sign-in that led back to it, and nobody is told of it", async () => {
    const page = await browser.open(`${url}/o/quiet`);
    const before = browser.complaints.length;
    await page.locator("[data-do=silence]").click();
    await fillSignIn(page, "wrong");
    await page.locator(".bad", { hasText: "This token is not accepted. Nothing was changed." }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    // The browser itself reports the 401 that was wanted.
    browser.forgive(before);
    await fillSignIn(page, token);
    await page.waitForURL(`${url}/o/quiet`);
    await page.locator("[data-do=silence]").click();
    await page.locator("dialog input[name=comment]").fill("migration");
    await page.locator("dialog button.primary").click();
    await page.locator("#did", { hasText: "Silenced until" }).waitFor();

    answers.set("quiet", "fail");
    await run("quiet");
    answers.set("acme", "fail");
    await run("acme");
    const told = (slug: string) =>
      sink.requests.some(({ body }) =>
        (JSON.parse(body) as { alerts: { slug: string }[] }).alerts.some((one) => one.slug === slug),
      );
    await eventually(() => told("acme"));

    expect(told("quiet")).toBe(false);
    await page.goto(url);
    await rowOf(page, "quiet").locator(".c-alert", { hasText: "silenced" }).waitFor();
  });
});

describe("the other pages in a browser", () => {
  it("an organization's page follows its runs", async () => {
    const page = await browser.open(`${url}/o/acme`);
    await page.locator("#stream", { hasText: /^live$/ }).waitFor();
    await page.locator("#chart canvas").waitFor();

    answers.set("acme", "ok");
    await run("acme");
    await page.locator("h1.name", { hasText: "ok" }).waitFor();
    expect(await page.title()).toBe("ok: acme, 1.6×");
    answers.set("acme", "warn");
    await run("acme");
    await page.locator("h1.name", { hasText: "warn" }).waitFor();

    expect(await page.locator(".timeline").first().textContent()).toContain("Firing with warn");
    await page.locator("#chart canvas").waitFor();
  });

  it("a dead letter is tried again from the receivers' page", async () => {
    sinkStatus = 410;
    answers.set("globex", "fail");
    await run("globex");
    const page = await browser.open(url);
    await page.locator(".pagesnav a[data-page=receivers] .pill").waitFor();
    // A count in the navigation, and its word for screen readers, widen no phone.
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    await page.setViewportSize({ width: 1_360, height: 900 });
    await page.locator(".pagesnav a[data-page=receivers]").click();
    await fillSignIn(page, token);
    await page.locator("h1", { hasText: "0 of 1 receiver" }).waitFor();
    expect(await page.locator("tbody").nth(1).textContent()).toContain("globex");

    sinkStatus = 200;
    await page.locator("#all").check();
    await page.locator("[data-outbox=retry]").click();
    await page.locator("#dead-h + .detail").waitFor();

    await page.locator("h1", { hasText: "1 of 1 receiver" }).waitFor();
  });

  it("an organization's page catches up on what came while nobody saw it", async () => {
    answers.set("acme", "ok");
    await run("acme");
    const page = await browser.open(`${url}/o/acme`);
    await page.locator("#stream", { hasText: /^live$/ }).waitFor();
    await page.locator("h1.name", { hasText: "ok" }).waitFor();
    await page.evaluate(
      `window.away = { is: true, asked: 0 };
      Object.defineProperty(document, "hidden", { get: () => (window.away.asked++, window.away.is) })`,
    );

    answers.set("acme", "warn");
    await run("acme");
    await eventually(() => page.evaluate("window.away.asked > 0"));
    expect(await page.locator("h1.name").textContent()).toContain("ok");
    await page.evaluate("window.away.is = false");

    await page.locator("h1.name", { hasText: "warn" }).waitFor();
  });
});

describe("for everybody", () => {
  it.each([
    ["light", "/"],
    ["dark", "/"],
    ["light", "/o/initech"],
    ["dark", "/o/initech"],
    ["light", "/o/dark"],
    ["light", "/receivers"],
    ["dark", "/receivers"],
    ["light", "/queue"],
    ["light", "/config"],
    ["dark", "/config"],
  ] as const)("axe finds nothing: %s %s", async (colorScheme, path) => {
    const page = await browser.open(url + path, { colorScheme, extraHTTPHeaders: bearer });
    await page.locator("main").waitFor();

    expect(await axeViolations(page)).toEqual([]);
  });

  it.each(["/", "/o/initech", `/o/${longSlug}`, "/receivers", "/queue", "/config"])(
    "nothing scrolls sideways at 320 px: %s",
    async (path) => {
      const page = await browser.open(url + path, { viewport: { width: 320, height: 640 }, extraHTTPHeaders: bearer });

      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    },
  );

  it("fits 100 KiB compressed, all parts together", async () => {
    const page = await browser.open(`${url}/o/initech`);
    const paths = await page.evaluate(
      `[location.pathname, ...performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)].filter((path) => !path.startsWith("/events"))`,
    );
    let bytes = 0;
    for (const path of new Set(paths as string[])) {
      const answer = await fetch(url + path, { headers: { "accept-encoding": "br" } });
      bytes += Number(answer.headers.get("content-length"));
      await answer.arrayBuffer();
    }

    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(100 * 1_024);
  });

  it("no page complained: no error, nothing that the policy refused", () => {
    expect(browser.complaints).toEqual([]);
  });
});
