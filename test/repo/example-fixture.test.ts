import { readFileSync } from "node:fs";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { walkReports } from "../../src/contract/report-pages.ts";
import type { Report } from "../../src/contract/reports.ts";
import { findKey } from "../../src/service/api-keys.ts";
import { importFixtures } from "../../src/service/fixture/fixture.ts";
import { createLocalPlatformApi } from "../../src/service/local-platform-api.ts";
import { openTemporaryStore } from "../support/store/temporary.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";

const text = readFileSync(new URL("../../examples/fixture.yaml", import.meta.url), "utf8");
const configText = readFileSync(new URL("../../config.example.yaml", import.meta.url), "utf8");
const config = parse(configText) as {
  readonly organizations: readonly string[];
  readonly server: { readonly listen: string };
};
const clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 20) });

let opened: Awaited<ReturnType<typeof openTemporaryStore>>;

beforeAll(async () => {
  opened = await openTemporaryStore(clock);
  await importFixtures({ store: opened.store, clock, files: [{ name: "examples/fixture.yaml", text }] });
});

afterAll(() => opened.close());

async function listed(key: string, query: object = {}): Promise<Report[]> {
  const identity = await findKey(opened.store, key);
  if (identity === null) throw new Error(`the fixture has no key ${key}`);
  const api = createLocalPlatformApi({
    store: opened.store,
    clock,
    appUrl: null,
    identity,
    isConfigured: () => false,
  });
  const reports: Report[] = [];
  for await (const report of walkReports(api, query)) reports.push(report);
  return reports;
}

describe("examples/fixture.yaml", () => {
  it("is about organizations of the example's configuration, which listens on this machine only", async () => {
    const slugs = await opened.store.platform.organizations.slugs();

    expect(slugs).toHaveLength(2);
    expect(config.organizations).toEqual(expect.arrayContaining([...slugs]));
    expect(config.server.listen).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it("has some thirty reports, over every family of asset types", async () => {
    const reports = [...(await listed("example-key-ads")), ...(await listed("example-key-risk"))];

    const types = new Set(reports.flatMap(({ proposals = [] }) => proposals.map(({ asset }) => asset["type"])));
    expect(reports.length).toBeGreaterThanOrEqual(30);
    const families = [
      "URL",
      "PAGE",
      "EMAIL",
      "TWITTER",
      "TELEGRAM",
      "GOOGLE_APP_STORE",
      "CHROME_WEB_STORE",
      "ADDRESS",
      "GITHUB",
    ];
    expect([...types]).toEqual(expect.arrayContaining(families));
  });

  it("has proposals in every state of the queue, and of the organizations' own reports", () => {
    const fixture = parse(text) as {
      readonly reports: readonly {
        readonly organization: string;
        readonly reporter: { readonly organization: string | null };
        readonly proposals: readonly { readonly queue: string; readonly resolved: boolean }[];
      }[];
    };

    const states = new Set(
      fixture.reports.flatMap(({ organization, reporter, proposals }) =>
        proposals.map(
          ({ queue, resolved }) =>
            `${queue}${resolved ? " resolved" : ""}${reporter.organization === organization ? " own" : ""}`,
        ),
      ),
    );
    expect([...states].toSorted()).toEqual([
      "answered",
      "answered resolved",
      "none",
      "none resolved",
      "queued",
      "queued own",
    ]);
  });

  it("shows both organizations to the staff key, each to its own, and no organization's own report in its queue", async () => {
    expect(await listed("example-key-staff", { slug: "risk-hosts" })).toEqual(await listed("example-key-risk"));
    const queue = await listed("example-key-ads", { needsCustomerReview: true });

    expect(queue.map((report) => report["id"])).not.toContain(9_011);
    expect(queue).toHaveLength(10);
  });

  it("names only hosts that nobody can own", () => {
    const hosts = [...text.matchAll(/(?:https?:\/\/|@)([\w.-]+\.[a-z]+)/g)].map((match) => match[1] ?? "");

    expect(hosts.length).toBeGreaterThan(25);
    expect(hosts.filter((host) => !host.endsWith(".example"))).toEqual([]);
  });
});
