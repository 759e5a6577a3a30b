import { beforeAll, describe, expect, it } from "vitest";

import { createSystemClock, minuteMs } from "../../../src/base/time.ts";
import { useBrowser } from "../../support/browser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";
import { death } from "../../support/store/event-store.ts";

const clock = createSystemClock();
const bearer = { authorization: "Bearer t" };
const asset = "https://login.acme.example";

const folder = useDaemonFolder();
const browser = useBrowser();

const pageOf = async (path: string, headers = {}): Promise<string> =>
  (await fetch(folder.url + path, { headers })).text();
const textOf = (markup: string): string => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/[\s\u00a0]+/g, " ");

beforeAll(async () => {
  const died = death(clock.nowMs() - minuteMs, "acme", { assetType: "URL", asset });
  await folder.withStore((store) => store.transaction(({ events }) => events.add([died])));
  await folder.configure(`
defaults: { schedule: "0 0 1 1 *", sentinel: { schedule: "0 0 1 1 *" } }
organizations: [calm, { slug: acme, sentinel: { assets: ["${asset}", "https://www.acme.example"] } }]
server: { listen: "${folder.listen}", token: t }
`);
  await folder.start();
  await eventually(async () => {
    const checks = (await (await fetch(`${folder.url}/api/v1/checks`)).json()) as { lastRunAt: string | null }[];
    return checks.length === 3 && checks.every(({ lastRunAt }) => lastRunAt !== null);
  });
});

describe("checks beside the spike check, on the page of an organization", () => {
  it("are said in the headline, with their incident, and each with what it saw", async () => {
    const text = textOf(await pageOf("/o/acme", bearer));
    expect(textOf(await pageOf("/o/acme"))).not.toContain("login[.]acme");

    expect(text).toMatch(/acme ?: an asset that is known to live was called dead\./);
    expect(text).toMatch(/It began with incident \d at \d\d:\d\d/);
    expect(text).toMatch(/May the deaths be acted on\? No: takedowns of .* are on hold/);
    expect(text).not.toMatch(/\d{4}-\d\d-\d\dT/);
    expect(text).toMatch(/fail .* 1 of 2 assets that are known to be alive is called dead/);
    // No address of an asset is one that opens.
    expect(text).toContain("hxxps://login[.]acme[.]example is known to be alive and was called dead");
    expect(text).toContain("Do this first: Open the named assets by hand");
  });
});

it("an organization's page says so when the organization is removed", async () => {
  const page = await browser.open(`${folder.url}/o/calm`);
  await page.locator("#lamp", { hasText: /^live$/ }).waitFor();
  await folder.configure(`
defaults: { schedule: "0 0 1 1 *" }
organizations: [acme]
server: { listen: "${folder.listen}", token: t }
`);
  const answer = await fetch(`${folder.url}/-/reload`, { method: "POST", headers: bearer });

  expect(answer.status).toBe(200);
  await page.locator("main", { hasText: "No such organization is configured." }).waitFor();
  // The browser itself reports the 404 that was wanted.
  browser.forgive(0);
});
