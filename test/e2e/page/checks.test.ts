import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { createSystemClock, minuteMs } from "../../../src/base/time.ts";
import { useBrowser } from "../../support/browser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const clock = createSystemClock();
const bearer = { authorization: "Bearer t" };
const asset = "https://login.acme.example";

const folder = useDaemonFolder();
const browser = useBrowser();

const configure = (failMultiplier: number): Promise<void> =>
  folder.configure(`
source: { type: embedded, preload: [{ fixture: fixture.yaml }] }
defaults:
  schedule: "0 0 1 1 *"
  sentinel: { schedule: "0 0 1 1 *" }
  eventFlow: { schedule: "0 0 1 1 *", maxSilence: 2h }
  thresholds: { failMultiplier: ${failMultiplier} }
organizations:
  - { slug: acme, sentinel: { assets: ["${asset}", "https://www.acme.example"] }, eventFlow: { enabled: true } }
  - { slug: silent, eventFlow: { enabled: true } }
  - { slug: calm, receivers: [ops] }
  - { slug: reviewed, reviewQueue: { enabled: true, schedule: "0 0 1 1 *" } }
receivers: [{ name: ops, type: log }, { name: other, type: log }]
server: { listen: "${folder.listen}", token: t }
`);

const pageOf = async (path: string, headers = {}): Promise<string> =>
  (await fetch(folder.url + path, { headers })).text();
const textOf = (markup: string): string => markup.replaceAll(/<[^>]+>/g, " ").replaceAll(/[\s\u00a0]+/g, " ");

beforeAll(async () => {
  for (const slug of ["acme", "calm", "silent"])
    await folder.addDeaths(slug, { lastHour: slug === "silent" ? 0 : 12, perDay: 12 });
  await folder.withStore((store) =>
    store.transaction(({ events }) =>
      events.add([
        {
          slug: "acme",
          assetType: "URL",
          asset,
          status: "DETECTED_AS_DEAD",
          id: null,
          count: 1,
          atMs: clock.nowMs() - minuteMs,
        },
      ]),
    ),
  );
  const queued = {
    id: 9_001,
    organization: "reviewed",
    createdAt: "2026-01-15T10:00:00.000Z",
    status: "TODO",
    source: "API",
  };
  const reporter = { kind: "human", name: "Kim", organization: null };
  await writeFile(
    join(folder.path, "fixture.yaml"),
    JSON.stringify({
      organizations: [{ slug: "reviewed", name: "reviewed", brands: [] }],
      assets: [{ id: 501, type: "URL", content: "https://login.example", status: "UNKNOWN" }],
      reports: [
        { ...queued, reporter, proposals: [{ id: 301, assetId: 501, queue: "queued", resolved: false }], scans: [] },
      ],
    }),
  );
  await configure(4);
  await folder.start();
  await eventually(async () => {
    const checks = (await (await fetch(`${folder.url}/api/v1/checks`)).json()) as { lastRunAt: string | null }[];
    return checks.length === 8 && checks.every(({ lastRunAt }) => lastRunAt !== null);
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

  it("name the reports of the review queue to who may read, and to nobody else", async () => {
    expect(textOf(await pageOf("/o/reviewed", bearer))).toMatch(/9001/);
    expect(await pageOf("/o/reviewed")).not.toContain("9001");
  });
});

it("an organization's page says so when the organization is removed", async () => {
  const page = await browser.open(`${folder.url}/o/silent`);
  await page.locator("#lamp", { hasText: /^live$/ }).waitFor();
  await folder.configure(`
defaults: { schedule: "0 0 1 1 *" }
organizations: [calm]
server: { listen: "${folder.listen}", token: t }
`);
  const answer = await fetch(`${folder.url}/-/reload`, { method: "POST", headers: bearer });

  expect(answer.status).toBe(200);
  await page.locator("main", { hasText: "No such organization is configured." }).waitFor();
  // The browser itself reports the 404 that was wanted.
  browser.forgive(0);
});
