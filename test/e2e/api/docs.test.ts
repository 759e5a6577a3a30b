import { readFileSync } from "node:fs";

import { afterAll, beforeAll, expect, it } from "vitest";

import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";

const rules = readFileSync(new URL("../../../dashboards/rules/flatline.rules.yaml", import.meta.url), "utf8");

let folder: DaemonFolder;
let url = "";
const pages = new Map<string, string>();

beforeAll(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: embedded }
organizations: [acme]
server: { listen: "127.0.0.1:0", token: a-token-of-the-tests, publicRead: false }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
});
afterAll(() => folder.close());

/** Whether a path of the documentation is a page, and has the place that it names. */
async function leadsSomewhere(path: string): Promise<boolean> {
  const { pathname, hash } = new URL(path, url);
  const known = pages.get(pathname);
  const text = known ?? (await (await fetch(`${url}${pathname}`)).text());
  pages.set(pathname, text);
  return text.includes('<article class="docs">') && (hash === "" || text.includes(` id="${hash.slice(1)}"`));
}

it("has a place for each alert of the shipped rules, for whom nobody has signed in", async () => {
  const urls = [...rules.matchAll(/runbook_url: (\S+)/g)].map(([, runbook = ""]) => new URL(runbook));

  expect(urls.length).toBeGreaterThan(10);
  for (const { pathname, hash } of urls)
    expect([hash, await leadsSomewhere(`${pathname}${hash}`)]).toEqual([hash, true]);
});

it("has pages that lead to each other, and nowhere that is not", async () => {
  const listed = [...(await (await fetch(`${url}/docs`)).text()).matchAll(/href="(\/docs\/[^"]+)"/g)];
  const missing: string[] = [];

  expect(listed.length).toBeGreaterThan(15);
  for (const [, path = ""] of listed) {
    expect(await leadsSomewhere(path)).toBe(true);
    for (const [, link = ""] of (pages.get(path) ?? "").matchAll(/<a href="(?!https:|\/)([^"]+)"/g))
      if (!(await leadsSomewhere(new URL(link, `${url}${path}`).href))) missing.push(`${path}: ${link}`);
  }
  expect(missing).toEqual([]);
  for (const path of ["/docs/nowhere.md", "/docs/constructor", "/docs/..%2fweb%2fdocs.json"])
    expect((await fetch(`${url}${path}`)).status).toBe(404);
});
