import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { minuteMs } from "../../../src/base/time.ts";
import { startBrowser, type TestBrowser, signIn } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const token = "a-token-of-the-tests";
const bearer = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const long = "an-organization-with-a-name-that-is-long";
const slugs = ["acme", long, "silenced"];

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  const nowMs = Date.now();
  await folder.withStore((store) =>
    store.transaction(({ events }) =>
      events.add(
        slugs.flatMap((slug) =>
          Array.from({ length: 150 }, (_, index) => ({
            atMs: nowMs - minuteMs - index,
            slug,
            assetType: "URL",
            asset: `https://${slug}-${index}.example/`,
            status: "DETECTED_AS_DEAD",
            id: null,
            count: 1,
          })),
        ),
      ),
    ),
  );
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "* * * * * *", gate: { releaseOn: [judged] } }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: ops, type: log }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  const silence = { slug: "silenced", comment: "a migration", endsAt: new Date(nowMs + 60 * minuteMs).toISOString() };
  await fetch(`${url}/api/v1/silences`, { method: "POST", headers: bearer, body: JSON.stringify(silence) });
  await eventually(async () => (await alertIds()).length === slugs.length);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

async function alertIds(): Promise<readonly string[]> {
  const { alerts } = (await (await fetch(`${url}/api/v1/alerts`, { headers: bearer })).json()) as {
    alerts: readonly { readonly id: string }[];
  };
  return alerts.map(({ id }) => id);
}

async function open(path: string, width = 1_280): Promise<Page> {
  const page = await browser.open(url + path, {
    viewport: { width, height: 700 },
  });
  await signIn(page, token);
  return page;
}

/** Waits until so many changes have come to the page, by the server's own stream of them. */
async function untilChanges(page: Page, count: number): Promise<void> {
  await page.evaluate(
    `new Promise((resolve) => { let seen = 0; const stream = new EventSource("/events");
      stream.addEventListener("change", () => { if (++seen >= ${count}) { stream.close(); setTimeout(resolve, 500); } }); })`,
  );
}

describe("while the page refreshes itself", () => {
  it("a filter of /alerts keeps its focus and the word that is typed into it", async () => {
    const page = await open("/alerts");
    const input = page.locator("form[data-search] input");
    await input.pressSequentially("ac");
    await untilChanges(page, 3);
    await page.keyboard.type("me");

    expect(await input.inputValue()).toBe("acme");
    await page.close();
  });

  it("dead assets that were asked for stay", async () => {
    const [id = ""] = await alertIds();
    const page = await open(`/alerts/${id}`);
    await page.locator("button[data-assets=more]").click();
    const rows = page.locator("#dead-part tbody tr");
    await eventually(async () => (await rows.count()) > 100);
    await untilChanges(page, 3);

    expect(await rows.count()).toBeGreaterThan(100);
    await page.close();
  });
});

describe.each([320, 390, 720, 760, 900, 1_080])("at %i px", (width) => {
  it("nothing scrolls sideways, and every name has a width", async () => {
    for (const path of ["/", "/alerts", `/o/${long}`]) {
      const page = await open(path, width);
      await page.locator("#main").waitFor();

      expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, width]);
      const names = await page
        .locator("tr.row .slug, tr.row .name a")
        .evaluateAll((found) =>
          found.map((element) => (element as unknown as { readonly offsetWidth: number }).offsetWidth),
        );
      expect([path, names.filter((name) => name < 40)]).toEqual([path, []]);
      await page.close();
    }
  });

  it.each(["judge", "release", "silence"])(
    "the whole dialog to %s is within the screen, or scrolls in it",
    async (act) => {
      const page = await open(`/alerts/${(await alertIds())[0] ?? ""}`, width);
      const button = page.locator(`button[data-do="${act}"]`).first();
      await button.click();
      const dialog = page.locator("dialog[open]");
      await dialog.waitFor();
      await dialog.locator("button.primary").scrollIntoViewIfNeeded();

      const box = await dialog.boundingBox();
      const primary = await dialog.locator("button.primary").boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
      expect((primary?.y ?? 0) + (primary?.height ?? 0)).toBeLessThanOrEqual(700);
      await page.close();
    },
  );
});
