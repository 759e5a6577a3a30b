import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { axeViolations, startBrowser, type TestBrowser, signIn } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const token = "let-me-in";
const bearer = { authorization: `Bearer ${token}` };

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  await writeFile(join(folder.path, "listed.json"), '["globex"]');
  for (const slug of ["acme", "globex", "acme-eu", "acme-eu", "old", "other", "test"])
    await folder.addDeaths(slug, { lastHour: 1, perDay: 1 });
  await folder.configure(`
source: { type: embedded }
organizations:
  - acme
discover: [{ name: platform, file: listed.json }]
server: { listen: "127.0.0.1:0", token: "${token}" }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => {
    const checks = (await (await fetch(`${url}/api/v1/checks`)).json()) as { slug: string; lastRunAt: string | null }[];
    return checks.length === 2 && checks.every(({ lastRunAt }) => lastRunAt !== null);
  });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

const textOf = async (path: string, headers = {}): Promise<string> =>
  (await (await fetch(url + path, { headers })).text()).replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");

describe("slugs that send events and that no one checks", () => {
  it("are named in a line of the overview, those with the most events first", async () => {
    expect(await textOf("/", bearer)).toContain(
      "Not watched: 4 slugs send events and nothing checks them: acme-eu 16 events, old 8 events, other 8 events and 1 more.",
    );
  });

  it("are not named to who may not read them", async () => {
    expect(await textOf("/")).not.toContain("Not watched");
  });

  it("are named in the browser to who is signed in", async () => {
    const page = await browser.open(url);
    await signIn(page, token);
    await page.locator("main p", { hasText: "Not watched" }).waitFor();

    expect(await axeViolations(page)).toEqual([]);
    expect(browser.complaints).toEqual([]);
  });
});

describe("where an organization comes from", () => {
  it.each([
    ["acme", "Configured in flatline.yaml:4"],
    ["globex", "Discovered by platform"],
  ])("stands on the page of %s: %s", async (slug, text) => {
    expect(await textOf(`/o/${slug}`)).toContain(text);
  });
});
