import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { sendForm, useBrowser, textAt } from "../../support/browser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";
import { death, toNdjson } from "../../support/store/event-store.ts";

const bearer = { authorization: "Bearer let-me-in-of-the-tests" };
const hourMs = 3_600_000;
const broken = ["acme", "globex", "initech", "umbrella", "stark"];
const slugs = [...broken, "hooli"];

const folder = useDaemonFolder();
const browser = useBrowser();

/** Eight calm days of all, and half an hour in which everything of five dies; those of stark without what the others share. */
function events(nowMs: number): string {
  const dies = (slug: string, atMs: number, asset: string, reason: string) =>
    death(atMs, slug, { assetType: "URL", asset, attributes: { reason } });
  const calm = slugs.flatMap((slug) =>
    Array.from({ length: 34 }, (_, index) => {
      const hour = 200 - 6 * index;
      return dies(slug, nowMs - hour * hourMs, `https://${slug}-${hour}.example/a`, "gone");
    }),
  );
  const spike = broken.flatMap((slug, index) =>
    Array.from({ length: 60 + 10 * index }, (_, death) => {
      const reason = slug === "stark" ? "gone" : "captcha_page";
      return dies(slug, nowMs - hourMs / 2 - death * 1_000, `https://${slug}-login-${death}.example/`, reason);
    }),
  );
  return toNdjson([...calm, ...spike]);
}

const post = (path: string, body: string, type = "application/json"): Promise<Response> =>
  fetch(`${folder.url}${path}`, { method: "POST", headers: { ...bearer, "content-type": type }, body });

const form = (path: string, fields: Readonly<Record<string, string>>) => sendForm(folder.url + path, fields, bearer);

const answerTo = (page: Page, question: string): Promise<string> =>
  textAt(page, `.asked section:has(h2:text-is("${question}")) .answer`);

const open = (path: string, options: object = {}): Promise<Page> =>
  browser.open(folder.url + path, { extraHTTPHeaders: bearer, ...options });

/** Reads the page again, as it does by itself when something has changed, and waits until what came is shown. */
async function refresh(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    document.body.addEventListener("htmx:after:settle", resolve, { once: true });
    document.getElementById("main").dispatchEvent(new Event("refresh"));
  })`);
}

beforeAll(async () => {
  await folder.configure(`
defaults: { schedule: "0 0 1 1 *", receivers: [ops, { name: lead, after: 30m }] }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 100ms, groupInterval: 1s }
receivers: [{ name: ops, type: log }, { name: lead, type: log }]
server:
  listen: "${folder.listen}"
  tokens:
    - { name: dana, token: let-me-in-of-the-tests, may: [read, operate, gate, ingest, admin] }
`);
  await folder.start();
  expect((await post("/api/v1/events", events(Date.now()), "application/x-ndjson")).status).toBe(200);
  for (const slug of slugs) await post(`/api/v1/checks/dead-asset-spike/${slug}/run`, "{}");
  const silence = { slug: "of-nobody-*", endsAt: new Date(Date.now() + hourMs).toISOString(), comment: "none" };
  await post("/api/v1/silences", JSON.stringify(silence));
});

beforeEach(() => browser.forgive(0));

describe("the list of incidents", () => {
  it("says what waits, its cause, and the next act", async () => {
    const page = await open("/incidents");

    expect(await textAt(page, "h1")).toBe("1 incident is open. Nobody has acknowledged it.");
    expect(await textAt(page, "tr.todo th a")).toMatch(
      /^5 of 6 organizations spike since (\d+ [A-Z][a-z]{2} )?\d\d:\d\d\.$/,
    );
    expect(await textAt(page, "tr.todo th .under")).toMatch(
      /^The liveness checker is suspected: 7\d % of these deaths share reason=captcha_page, usually/,
    );
    expect(await textAt(page, "tr.todo .act")).toBe("Acknowledge 5…");
  });

  it("filters while one types, and keeps the text in the address", async () => {
    const page = await open("/incidents");

    await page.fill("#filter", "judged=real");

    await page.locator("text=No incident matches «judged=real».").waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("judged=real");
    expect(await page.locator("#filter").inputValue()).toBe("judged=real");
  });
});

describe("the page of an incident", () => {
  it("answers what flatline knows and what people decide", async () => {
    const page = await open("/incidents/1");

    expect(await textAt(page, "h1")).toMatch(/^5 of 6 organizations .* The liveness checker is suspected: /);
    expect(await answerTo(page, "Likely cause")).toBe("The liveness checker");
    expect(await answerTo(page, "Is it over?")).toBe("No");
    expect(await answerTo(page, "Who has acknowledged it?")).toBe("Nobody");
    expect(await answerTo(page, "What was it?")).toBe("Nobody has judged it");
    expect(await answerTo(page, "May the deaths be acted on?")).toBe("No: takedowns of 5 organizations are on hold");
    // The outbox sends after the run has said "fail": the page shows it when it has.
    await page.locator('.instants li:not(.open) .name:text-is("Notified")').waitFor();
    expect(await page.locator(".instants li:not(.open) .name").allInnerTexts()).toEqual([
      "Began",
      "Detected",
      "Notified",
    ]);
    const digits = 'getComputedStyle(document.querySelector(".instants .at")).fontVariantNumeric';
    expect(await page.evaluate(digits)).toBe("tabular-nums");
    expect(await textAt(await open("/"), ".incident .do")).toMatch(
      /Began (\d+ [A-Z][a-z]{2} )?\d\d:\d\d\. Notified \d\d:\d\d\. Nobody has/,
    );
  });

  it("names receivers to who may read that, and to nobody else, like the pages that tell of it", async () => {
    const names = /\bops\b|\blead (?:is|after)\b/;
    for (const path of ["/", "/incidents", "/incidents/1", "/o/globex", "/api/v1/incidents/1", "/api/v1/alerts"]) {
      const read = async (headers: Readonly<Record<string, string>>): Promise<string> =>
        (
          await fetch(folder.url + path, {
            headers: { accept: path.startsWith("/api") ? "*/*" : "text/html", ...headers },
          })
        ).text();

      expect([path, names.exec(await read({}))?.[0] ?? null]).toEqual([path, null]);
      if (["/incidents/1", "/o/globex"].includes(path)) expect(await read(bearer)).toMatch(names);
    }
  });

  it("keeps what is typed and ticked when it is read again", async () => {
    const page = await open("/incidents/1");
    await page.fill("#comment", "umbrella is mine");
    await page.locator("input[value=globex]").check();
    await page.focus("#comment");

    await refresh(page);

    expect(await page.locator("#comment").inputValue()).toBe("umbrella is mine");
    expect(await page.locator("input[value=globex]").isChecked()).toBe(true);
    expect(await textAt(page, ".bulk")).toContain("1 of 5 ticked");
    expect(await page.evaluate("document.activeElement.id")).toBe("comment");
  });

  it("takes a comment once, however often one clicks", async () => {
    const page = await open("/incidents/1");
    const said = page.locator(".story", { hasText: "the captcha of Friday" });
    await page.fill("#comment", "the captcha of Friday");
    await page.locator("form.comment button").dblclick();
    await said.waitFor();
    await page.reload();
    expect((await said.innerText()).split("the captcha of Friday")).toHaveLength(2);
  });

  it("has its acts at the foot of a phone, also without scripts", async () => {
    const page = await open("/incidents/1", { viewport: { width: 390, height: 800 }, javaScriptEnabled: false });
    const bar = page.getByRole("navigation", { name: "Acts" });
    const box = await bar.boundingBox();

    expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(800);
    const words = (await bar.getByRole("link").allInnerTexts()).map((text) => text.replace(/ \d+…/, "…"));
    expect(words).toEqual(["Acknowledge…", "Judge…", "Release…"]);
    expect(await page.locator(".asked .acts .button").first().isVisible()).toBe(false);
  });
});

describe("an open page", () => {
  /** Lets it ask at once, and then often. */
  const hurry = (page: Page): Promise<void> =>
    page.evaluate(`
      document.body.dataset.every = "100";
      document.dispatchEvent(new Event("visibilitychange"));
    `);
  const change = async (): Promise<void> => {
    const comment = `comment ${Math.random()}`;
    expect((await post("/api/v1/incidents/1/comments", JSON.stringify({ comment }))).ok).toBe(true);
  };

  it.each(["/", "/incidents", "/incidents/1", "/silences"])(
    "%s keeps what is typed and focused through three changes",
    async (path) => {
      const page = await open(path);
      const field = page.locator("main input:not([type=hidden], [type=checkbox])").first();
      await hurry(page);
      for (const letter of "xyz") {
        await field.press(letter);
        const version = await page.locator("main").getAttribute("data-version");
        await change();
        await expect.poll(() => page.locator("main").getAttribute("data-version")).not.toBe(version);
      }

      expect(await field.inputValue()).toBe("xyz");
      expect(await field.and(page.locator(":focus")).count()).toBe(1);
    },
  );

  it("keeps where one has scrolled to", async () => {
    const page = await open("/incidents/1", { viewport: { width: 390, height: 500 } });
    await page.evaluate("scrollTo(0, 400)");
    await hurry(page);
    const version = await page.locator("main").getAttribute("data-version");
    await change();
    await expect.poll(() => page.locator("main").getAttribute("data-version")).not.toBe(version);

    expect(await page.evaluate("scrollY")).toBe(400);
  });

  it("does not move under a dialog or a tick, and says how much is waiting", async () => {
    const page = await open("/incidents/1");
    await hurry(page);
    const waiting = page.locator("#waiting");
    await page.locator("input[value=globex]").check();
    const story = await page.locator(".story").innerText();
    await change();
    await expect.poll(() => waiting.innerText()).toBe("1 change, show it");
    await change();
    await waiting.getByText("2 changes, show them").waitFor();
    expect(await page.locator(".story").innerText()).toBe(story);

    await waiting.click();

    await waiting.waitFor({ state: "hidden" });
    expect(await page.locator(".story").innerText()).not.toBe(story);
    expect(await page.locator("input[value=globex]").isChecked()).toBe(true);
  });

  it("draws what came under a dialog once it is closed", async () => {
    const page = await open("/incidents/1");
    await hurry(page);
    await page.click("text=Acknowledge 5…");
    const story = await page.locator(".story").innerText();
    await change();
    await page.locator("#waiting", { hasText: "show" }).waitFor({ state: "attached" });
    // The delivery of the comment is a change of its own: nothing is to come any more.
    await page.waitForTimeout(1_000);

    await page.getByRole("link", { name: "Cancel" }).click();

    // At the next minute the page is another one in any case.
    await expect.poll(() => page.locator(".story").innerText(), { timeout: 5_000 }).not.toBe(story);
    await page.locator("#waiting").waitFor({ state: "hidden" });
  });

  it("says that it is not live when nothing answers, and asks less often", async () => {
    const page = await open("/incidents/1");
    await page.locator("#lamp:has-text('live')").waitFor();
    const asked: number[] = [];
    await page.route("**/incidents/1", (route) => {
      asked.push(Date.now());
      return route.abort();
    });
    await hurry(page);
    await page.locator("#lamp:has-text('last update')").waitFor();
    // Each wait is twice the one before: sixteen times the first one at the fifth, so that a slow machine does not hide it.
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(6);
    expect((asked[5] ?? 0) - (asked[4] ?? 0)).toBeGreaterThan(2 * ((asked[1] ?? 0) - (asked[0] ?? 0)));

    await page.unroute("**/incidents/1");

    await page.locator("#lamp:has-text('live')").waitFor();
    browser.forgive(0);
  });
});

describe("acts on an incident", () => {
  it("are taken in a dialog that says what follows, and are told at once", async () => {
    const page = await open("/incidents/1");

    await page.click("text=Acknowledge 5…");
    await page.locator("dialog:modal").waitFor();
    expect(await textAt(page, "dialog h1")).toBe("Acknowledge 5 organizations?");
    expect(await textAt(page, "dialog dl")).toMatch(/Reminders stop.*Not called lead, due at/);
    await page.click("dialog button.primary");

    await page.locator("#did:has-text('5 acknowledged.')").waitFor();
    await page.locator(".answer:text-is('dana')").waitFor();
    expect(await page.locator("dialog").count()).toBe(0);
  });

  it("stay open with what is chosen while the page is read again", async () => {
    const page = await open("/incidents/1");
    await page.click("text=Judge 5…");
    await page.locator("dialog:modal").waitFor();
    await page.check("dialog input[value=expected]");
    await page.fill("dialog input[name=comment]", "a clean-up");

    await refresh(page);

    expect(await page.locator("dialog:modal input[value=expected]").isChecked()).toBe(true);
    expect(await page.locator("dialog input[name=comment]").inputValue()).toBe("a clean-up");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
  });

  it("are of the ticked rows only", async () => {
    const page = await open("/incidents/1");

    await page.locator("input[value=globex]").check();
    expect(await textAt(page, ".bulk")).toContain("1 of 5 ticked");
    await page.click(".bulk >> text=Judge…");
    await page.locator("dialog:modal").waitFor();
    expect(await textAt(page, "dialog h1")).toBe("What was it, in globex?");
    await page.check("dialog input[value=real]");
    await page.click("dialog button.primary");

    await page.locator("#did:has-text('1 judged.')").waitFor();
    const { alerts } = (await (await fetch(`${folder.url}/api/v1/incidents/1`)).json()) as {
      alerts: { slug: string; judgement: { verdict: string } | null }[];
    };
    expect(
      alerts.flatMap(({ slug, judgement }) => (judgement === null ? [] : [`${slug} ${judgement.verdict}`])),
    ).toEqual(["globex real"]);
  });

  it("work without scripts, each on a page of its own", async () => {
    const page = await open("/incidents/1", { javaScriptEnabled: false });

    await page.click("text=/^Judge 4…$/");
    expect(await textAt(page, "dialog h1")).toBe("What was it, in 4 organizations?");
    await page.check("input[value=checker]");
    await page.fill("input[name=comment]", "Captcha page in eu-1");
    await page.click("button.primary");

    expect(new URL(page.url()).pathname).toBe("/incidents/1");
    expect(await textAt(page, "#did")).toBe("4 judged, 1 judged apart before.");
    expect(await answerTo(page, "What was it?")).toBe("Judged in parts");
    expect(await textAt(page, ".acts section:nth-child(2) .why")).toBe(
      "4 of 5 are judged checker, 1 of 5 is judged real, says dana.",
    );
  });

  it("ask to type how many gates they open, and say what is missing", async () => {
    const wrong = await form("/incidents/1/release", { comment: "all is well", typed: "5" });
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining("Type 4 to release so many.")]);
    const none = await form("/incidents/1/release", { comment: " ", typed: "4" });
    expect([none.status, await none.text()]).toEqual([422, expect.stringContaining("Comment: is empty.")]);

    const done = await form("/incidents/1/release", { comment: "all is well", typed: "4" });

    expect([done.status, done.headers.get("location")]).toEqual([
      303,
      "/incidents/1?did=4%20released%2C%201%20already%20released.",
    ]);
    await eventually(async () => {
      const { held } = (await (await fetch(`${folder.url}/api/v1/incidents/1`)).json()) as { held: number };
      return held === 0 ? true : null;
    });
  });

  it("say what is done already", async () => {
    const ask = async (act: string): Promise<string> =>
      (await fetch(`${folder.url}/incidents/1/${act}`, { headers: { ...bearer, accept: "text/html" } })).text();
    const again = await form("/incidents/1/acknowledge", {});
    expect(again.headers.get("location")).toBe("/incidents/1?did=5%20already%20acknowledged.");
    const page = await open("/incidents/1?did=5%20already%20acknowledged.");
    expect(await textAt(page, "#did")).toBe("5 already acknowledged.");
    expect(await answerTo(page, "May the deaths be acted on?")).toBe("Yes: takedowns are allowed again");

    expect(await ask("acknowledge")).toContain("5 already acknowledged.");
    expect(await ask("release")).toContain("Nothing of it is on hold.");
  });
});
