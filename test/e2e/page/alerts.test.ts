import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page, Route } from "playwright-core";

import { axeViolations, startBrowser, type TestBrowser, signIn } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const token = "let-me-in";
const bearer = { authorization: `Bearer ${token}` };
const authorized = { extraHTTPHeaders: bearer };
const hourMs = 3_600_000;

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;
const ids = new Map<string, string>();

/** Ten calm days and an hour in which everything dies; of acme some assets are found alive again. */
async function postEvents(): Promise<void> {
  const nowMs = Date.now();
  const lines: string[] = [];
  const add = (slug: string, atMs: number, asset: string, status = "DETECTED_AS_DEAD"): void =>
    void lines.push(JSON.stringify({ at: new Date(atMs).toISOString(), slug, assetType: "URL", asset, status }));
  for (const slug of ["acme", "globex", "quiet"])
    for (let hour = 240; hour > 1; hour -= 8) add(slug, nowMs - hour * hourMs, `https://${slug}-${hour}.example/a`);
  for (const slug of ["acme", "globex"])
    for (let death = 0; death < 60; death++)
      add(slug, nowMs - hourMs / 2 - death, `https://${slug}-login-${death}.example/<b>signin`);
  for (let death = 0; death < 33; death++)
    add("acme", nowMs - hourMs / 4, `https://acme-login-${death}.example/<b>signin`, "DETECTED_AS_ALIVE");
  const body = lines.join("\n");
  const headers = { ...bearer, "content-type": "application/x-ndjson" };
  const answer = await fetch(`${url}/api/v1/events`, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
}

async function run(slug: string): Promise<void> {
  const path = `${url}/api/v1/checks/dead-asset-spike/${slug}/run`;
  expect((await fetch(path, { method: "POST", headers: bearer })).status).toBe(200);
}

const open = (path: string, options = {}): Promise<Page> => browser.open(url + path, { ...authorized, ...options });

beforeAll(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *", gate: { releaseOn: [resolved] } }
organizations: [{ slug: acme, labels: { team: trust } }, { slug: globex, baselineExclude: judged }, quiet, { slug: nameless, whenNoEvents: ok }]
alerting: { groupWait: 100ms, groupInterval: 1s, fleet: false }
receivers: [{ name: ops, type: log }]
server: { listen: "127.0.0.1:0", token: "${token}" }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  await postEvents();
  for (const slug of ["acme", "globex", "quiet"]) await run(slug);
  const { alerts } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as { alerts: { id: string; slug: string }[] };
  for (const { id, slug } of alerts) ids.set(slug, id);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

describe("the list of alerts", () => {
  it("says what waits, worst first, with undone shares and a proposal", async () => {
    const page = await open("/alerts");

    expect(await page.locator("h1").textContent()).toBe("2 alerts wait for someone.");
    expect(await page.title()).toBe("2 firing · flatline");
    expect(await page.locator("tr.row .a-alert a").allTextContents()).toEqual(["acme", "globex"]);
    const acme = page.locator("tr.row", { hasText: "acme" });
    expect(await acme.locator(".a-judged").innerText()).toBe("checker?");
    expect(await acme.locator(".a-peak").innerText()).toBe("62");
    expect(await page.locator(".pagesnav [data-count=unattended]").innerText()).toContain("2");
  });

  it.each([
    ["team=trust", ["acme"]],
    ["glbx", ["globex"]],
    ["fail undone>50%", ["acme"]],
    ["not:judged firing", ["acme", "globex"]],
    ['"globex"', ["globex"]],
    ["judged=checker", []],
  ])("is filtered in words: %s", async (words, slugs) => {
    const page = await open(`/alerts?q=${encodeURIComponent(words)}`);

    expect(await page.locator("tr.row .a-alert a").allTextContents()).toEqual(slugs);
  });

  it("filters while it is typed, keeps that in the address, and says what would match without a word", async () => {
    const page = await open("/alerts");
    await page.locator("html.js").waitFor();
    await page.locator("#q").fill("acme undone<10%");
    await page.waitForURL(/q=acme/);
    await page.locator(".away", { hasText: "No alert matches «acme undone<10%»." }).waitFor();
    await page.locator(".away a", { hasText: /match(es)? without/ }).click();
    await page.locator("tr.row").first().waitFor();

    await page.locator("#q").fill("tem=trust");
    await page.locator(".hint", { hasText: "«tem» is no label. Did you mean team?" }).waitFor();
    await page.reload();
    expect(await page.locator("#q").inputValue()).toBe("tem=trust");
  });

  it("answers an id that nobody has with a page", async () => {
    const page = await open("/alerts");
    const before = browser.complaints.length;
    await page.goto(`${url}/alerts/nope`);

    expect(await page.locator("h1").textContent()).toBe("No alert has this id, or it ended more than 90 days ago.");
    browser.forgive(before);
  });
});

describe("the page of one alert", () => {
  it("tells what happened in order, and who may do what", async () => {
    const page = await open(`/alerts/${ids.get("acme")}`);

    expect(await page.locator(".lead").innerText()).toMatch(
      /^62 deaths in 24.h, .* Firing for .*; its deaths are held\.$/,
    );
    expect(await page.locator(".order .step").allTextContents()).toEqual([
      "Began",
      "Detected",
      "Notified",
      "Acknowledged",
      "Judged",
      "Ended",
    ]);
    expect(await page.locator(".order li.open b").allInnerTexts()).toEqual(["not yet", "not yet", "still firing"]);
    expect(await page.locator(".acts .answer").allInnerTexts()).toEqual([
      "Nobody",
      "Nobody has judged it",
      "No: they are held",
    ]);
    expect(await page.locator("main button.primary").count()).toBe(1);
  });

  it("lists the dead by broken addresses, without a live link", async () => {
    const page = await open(`/alerts/${ids.get("acme")}`);
    await page.locator("#dead-part table").waitFor();

    expect(await page.locator("#dead-part tbody tr").count()).toBe(10);
    expect(await page.locator("#dead-part th.mono").first().innerText()).toMatch(
      /^hxxps:\/\/acme-login-\d+\[\.\]example\/<b>signin$/,
    );
    expect(await page.locator("#dead-part a").count()).toBe(0);
    await page.locator("[data-assets=dead]").click();
    await page.locator("[data-assets=dead][aria-pressed=true]").waitFor();
    expect(await page.locator("#dead-part td.num").allInnerTexts()).toEqual(
      Array.from({ length: 10 }, () => "still dead"),
    );
    await page.locator("[data-assets=more]").click();
    await eventually(async () => (await page.locator("#dead-part tbody tr").count()) > 10);
  });

  it("shows a reader without a token neither names nor people", async () => {
    const page = await browser.open(`${url}/alerts/${ids.get("acme")}`);
    await page.locator("html.js").waitFor();

    expect(await page.locator("#dead-part").innerText()).toContain("Names of assets and people need a token.");
    expect(await page.content()).not.toContain("acme-login-");
  });

  it("is acknowledged in a dialog that says what will happen, and released with a reason", async () => {
    const page = await browser.open(`${url}/alerts/${ids.get("globex")}`);
    await signIn(page, token);
    await page.locator("[data-do=ack-alert]").click();
    await page.locator("dialog h2", { hasText: "Acknowledge globex?" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.locator("dialog [name=comment]").fill("Looking at https://checker.example/eu-2");
    await page.keyboard.press("Control+Enter");
    await page.locator("#did", { hasText: "Acknowledged: quiet until it ends or gets worse." }).waitFor();
    await page.locator(".act", { hasText: "hxxps://checker[.]example/eu-2" }).waitFor();
    await page.locator(".comments li", { hasText: "with the acknowledgement" }).waitFor();
    await page.locator("[data-do=comment]").click();
    expect(await axeViolations(page)).toEqual([]);
    await page.locator("dialog button.primary").click();
    await page.locator("dialog .problem-line", { hasText: "Write the comment." }).waitFor();
    await page.locator("dialog [name=comment]").fill("<b>ten</b> of https://acme.example/a load");
    await page.locator("dialog button.primary").click();
    await page.locator(".comments li", { hasText: "<b>ten</b> of hxxps://acme[.]example/a load" }).waitFor();
    await page.locator("[data-do=unack-alert]", { hasText: "Take back" }).click();
    await page.locator("#did", { hasText: "Taken back: nobody is on it, and reminders go on." }).waitFor();
    await page.locator(".act .answer", { hasText: /^Nobody$/ }).waitFor();

    await page.locator("[data-do=release]").click();
    await page.locator("dialog button.primary").click();
    await page.locator("dialog .problem-line", { hasText: "Write the reason. It is kept with your name." }).waitFor();
    await page.locator("dialog [name=comment]").fill("opened twenty by hand, all gone");
    await page.locator("dialog button.primary").click();
    await page.locator(".act .answer", { hasText: "Yes: released" }).waitFor();
    await page.locator(".comments li", { hasText: "opened twenty by hand" }).waitFor();
  });

  it("is copied as Markdown, or shown for copying where the browser gives no clipboard", async () => {
    const page = await browser.open(`${url}/alerts/${ids.get("acme")}`);
    await signIn(page, token);
    await page.evaluate(`
      Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void (window.copied = text) } })`);
    await page.locator("[data-do=copy-report]").click();
    await page.locator("[data-do=copy-report]", { hasText: "Copied" }).waitFor();
    expect(await page.evaluate("window.copied")).toMatch(/^# fail: `acme`, dead-asset-spike\n/);
    await page.locator("[data-do=copy-report]", { hasText: "Copy report" }).waitFor();

    await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))`);
    await page.locator("[data-do=copy-report]").click();
    expect(await page.locator("dialog textarea").inputValue()).toMatch(/^# fail: `acme`/);
    expect(await axeViolations(page)).toEqual([]);
    expect(
      await page.evaluate(
        "getSelection().toString() !== '' || document.querySelector('dialog textarea').selectionEnd > 0",
      ),
    ).toBe(true);
    await page.keyboard.press("Escape");
  });

  it("is judged in a dialog with what each choice means, changed and taken back", async () => {
    const page = await browser.open(`${url}/alerts/${ids.get("acme")}`);
    await signIn(page, token);
    await page.locator("[data-do=judge]").click();
    // More than half of its deaths are undone: that is proposed, and nothing else ever is.
    await page.locator("dialog button.primary", { hasText: "Judge as checker" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.locator("dialog [name=comment]").fill("opened ten, nine load");
    await page.locator("dialog button.primary").click();
    await page.locator(".act .answer", { hasText: "The checker was wrong" }).waitFor();
    await page.locator(".comments li", { hasText: "opened ten, nine load" }).waitFor();

    await page.locator("[data-do=judge]").click();
    await page.locator("dialog input[value=expected]").check();
    await page.locator("dialog button.primary", { hasText: "Judge as expected" }).click();
    await page.locator(".act .answer", { hasText: "It was expected" }).waitFor();
    await page.locator("[data-do=unjudge]").click();
    await page.locator(".act .answer", { hasText: "Nobody has judged it" }).waitFor();
  });

  it("zooms chart and lanes together, in the address, and shows the time at the cursor", async () => {
    const page = await open(`/alerts/${ids.get("acme")}`);
    const plot = page.locator("#chart .u-over");
    await plot.waitFor();
    const lanes = (): Promise<string> => page.locator(".lanes").innerHTML();
    const whole = await lanes();
    const box = await plot.boundingBox();
    if (box === null) throw new Error("the chart has no size");

    await page.mouse.move(box.x + box.width * 0.5, box.y + 50);
    expect(await page.locator(".cursor-time").innerText()).toMatch(/^\d+.\w{3} \d\d:\d\d$/);
    expect(await page.locator(".lanes .hair").count()).toBe(1);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.9, box.y + 50, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=\d+&to=\d+/);
    expect(await lanes()).not.toBe(whole);
    await page.reload();
    await page.locator("#zoom-reset").waitFor();

    await page.locator("#zoom-reset").click();
    await page.waitForURL((address) => address.search === "");
    expect(await page.locator("#zoom-reset").isHidden()).toBe(true);
  });

  it("shows any stretch of time, which a form, keys and the address choose", async () => {
    const page = await open(`/alerts/${ids.get("acme")}?scale=linear`);
    await page.locator("#chart .u-over").waitFor();
    const spanOf = (): number[] =>
      ["from", "to"].map((name) => Number(new URL(page.url()).searchParams.get(name) ?? Number.NaN));
    const field = (atMs: number): string => new Date(atMs).toISOString().slice(0, 16);
    const fromMs = Math.floor(Date.now() / 60_000) * 60_000 - 6 * 24 * hourMs;

    await page.locator(".span summary").click();
    await page.locator(".span [name=from]").fill(field(fromMs));
    await page.locator(".span [name=to]").fill(field(fromMs + 24 * hourMs));
    await page.locator(".span button").click();
    await page.locator("#zoom-reset:not([hidden])").waitFor();
    // That is the server's; keys work once the scripts have begun.
    await page.locator("html.js").waitFor();
    expect(await page.locator(".span summary.on").innerText()).toMatch(/^\d+.\w{3} \d\d:\d\d to \d+.\w{3} \d\d:\d\d$/);
    expect(await page.locator(".switch [aria-current]").allInnerTexts()).toEqual(["linear"]);

    await page.keyboard.press("[");
    await page.waitForURL(/from=\d+&to=\d+/);
    expect(spanOf()).toEqual([fromMs - 12 * hourMs, fromMs + 12 * hourMs]);
    await page.keyboard.press("Escape");
    await page.waitForURL((address) => address.search === "?scale=linear");
    await page.locator("#zoom-reset").waitFor({ state: "hidden" });
  });

  it("stays where the reader went and what is filled in, though a refresh was asked for before", async () => {
    const path = `/alerts/${ids.get("acme")}`;
    const page = await open(path);
    await page.locator("#chart .u-over").waitFor();
    const held: Route[] = [];
    await page.route(
      (address) => address.pathname === path && address.search === "",
      (route) => void held.push(route),
    );
    const refresh = async (): Promise<Route> => {
      await run("acme");
      return eventually(async () => held.pop() ?? null);
    };
    const answer = async (route: Route): Promise<void> => {
      const response = page.waitForResponse(route.request().url());
      await route.continue();
      await (await response).finished();
      await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    };

    const beforeForm = await refresh();
    await page.locator(".span summary").click();
    await page.locator(".span [name=from]").fill("2026-01-02T03:04");
    await answer(beforeForm);
    expect(await page.locator(".span [name=from]").inputValue()).toBe("2026-01-02T03:04");
    await page.locator(".span summary").click();

    const beforeMove = await refresh();
    await page.locator("#main").focus();
    await page.keyboard.press("[");
    await page.waitForURL(/from=\d+&to=\d+/);
    await answer(beforeMove);
    expect(await page.locator("#zoom-reset").isVisible()).toBe(true);
  });

  it("draws what people did, silences, and what is not in the baseline", async () => {
    const id = ids.get("globex") ?? "";
    const send = async (method: string, path: string, body?: object): Promise<{ id?: string }> => {
      const init = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = { ...bearer, ...(body === undefined ? {} : { "content-type": "application/json" }) };
      const answer = await fetch(`${url}/api/v1${path}`, { method, headers, ...init });
      expect(answer.ok).toBe(true);
      return answer.status === 204 ? {} : ((await answer.json()) as { id?: string });
    };
    const at = (hours: number): string => new Date(Date.now() + hours * hourMs).toISOString();
    const marker = await send("POST", "/markers", { text: "captcha rollout", slug: "globex", at: at(-3) });
    await send("POST", `/alerts/${id}/comments`, { comment: "looking" });
    await send("POST", `/alerts/${id}/judgement`, { verdict: "checker" });
    const times = { startsAt: at(-2), endsAt: at(2) };
    const silence = await send("POST", "/silences", { slug: "glob*", comment: "a maintenance", ...times });

    const page = await open(`/alerts/${id}?week=1`);
    await page.locator("#chart .u-over").waitFor();
    const plain = await open(`/alerts/${id}?week=1`, { javaScriptEnabled: false });

    const titles = await page.locator(".lanes title").allTextContents();
    const acts = titles.map((title) => title.replace(/,.*/, ""));
    expect(acts[0]).toBe("marker «captcha rollout»");
    expect(acts.slice(-3)).toEqual(["commented", "judged", "silenced"]);
    expect(await page.locator(".lanes .shade-silenced").count()).toBe(1);
    expect(await page.locator(".lanes .shade-excluded").count()).toBe(1);
    expect((await page.locator(".lanes .right text").allTextContents()).join(", ")).toMatch(
      /^fail, silenced, \d sent so far, silenced$/,
    );
    expect(await page.locator("p.hint", { hasText: "Nothing was recorded a week before this range." }).count()).toBe(1);
    expect(await page.locator(".timeline li").allInnerTexts()).toContainEqual(
      expect.stringMatching(/Silenced until .*\d\d:\d\d by token «a maintenance»/),
    );
    expect(await plain.locator(".chart .shade").count()).toBe(2);
    expect(await plain.locator(".chart .began").count()).toBe(1);
    expect(await (await fetch(`${url}/alerts/${id}`)).text()).not.toContain("a maintenance");
    await send("DELETE", `/silences/${silence.id ?? ""}`);
    await send("DELETE", `/markers/${marker.id ?? ""}`);
    await send("DELETE", `/alerts/${id}/judgement`);
  });

  it("leaves everything as it is when a dialog is closed", async () => {
    const page = await browser.open(`${url}/alerts/${ids.get("acme")}`);
    await signIn(page, token);
    await page.locator("[data-do=ack-alert]").click();
    await page.locator("dialog[open]").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });

    expect(await page.evaluate("document.activeElement.dataset.do")).toBe("ack-alert");
    expect(await page.locator(".acts .answer").first().innerText()).toBe("Nobody");
  });

  it("proposes no judgement by two assets, however large their share is", async () => {
    const atMs = Date.now() - hourMs / 2;
    const at = (minutes: number): string => new Date(atMs + minutes * 60_000).toISOString();
    const slug = "nameless";
    const events = [
      { at: at(0), slug, count: 60 },
      ...["a", "b"].flatMap((asset) => [
        { at: at(0), slug, asset },
        { at: at(1), slug, asset, status: "DETECTED_AS_ALIVE" },
      ]),
    ];
    const headers = { ...bearer, "content-type": "application/json" };
    const answer = await fetch(`${url}/api/v1/events`, { method: "POST", headers, body: JSON.stringify(events) });
    expect(answer.status).toBe(200);
    await run(slug);
    const listed = await fetch(`${url}/api/v1/alerts`);
    const { alerts } = (await listed.json()) as { alerts: { id: string; slug: string }[] };
    const page = await browser.open(`${url}/alerts/${alerts.find((one) => one.slug === slug)?.id}`);
    await signIn(page, token);

    await page.locator("[data-do=judge]").click();

    await page.locator("dialog p", { hasText: "100 % were found alive again." }).waitFor();
    expect(await page.locator("dialog input[name=verdict]:checked").count()).toBe(0);
  });
});

describe("both", () => {
  it.each([
    ["light", 1_440],
    ["dark", 1_440],
    ["light", 390],
    ["dark", 390],
  ] as const)("have no violation and scroll not sideways: %s, %i px", async (colorScheme, width) => {
    for (const path of ["/alerts", `/alerts/${ids.get("acme")}`]) {
      const page = await open(path, { colorScheme, viewport: { width, height: 900 } });
      await page.locator("#stream", { hasText: /^live$/ }).waitFor();
      // Of a row on a phone two lines: the rest is on the alert's page.
      if (path === "/alerts" && width === 390)
        expect((await page.locator("tr.row").first().boundingBox())?.height).toBeLessThan(70);

      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
  });

  it("have not complained", () => {
    expect(browser.complaints).toEqual([]);
  });
});
