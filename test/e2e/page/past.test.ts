import { afterAll, beforeAll, expect, it } from "vitest";

import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

let folder: DaemonFolder;

beforeAll(async () => {
  folder = await makeDaemonFolder();
});
afterAll(async () => {
  await folder.close();
});

it("draws the days before the first start from the stored events, without alerts", async () => {
  await folder.addDeaths("acme", { lastHour: 3, perDay: 40 });
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *" }
organizations: [acme, { slug: empty, whenNoEvents: ok }]
server: { listen: "127.0.0.1:0", token: t }
storage: { path: flatline.db }
`);
  const app = await folder.start();
  const url = app.address()?.url ?? "";

  const page = await eventually(async () => {
    const text = await (await fetch(`${url}/o/acme?range=7d`)).text();
    const [, json = "{}"] = /<script type="application\/json" id="data">([^<]*)</.exec(text) ?? [];
    const { chart } = JSON.parse(json) as { chart?: { at: number[]; count: (number | null)[]; severity: string[] } };
    return chart !== undefined && chart.at.length > 48 ? { text, chart } : null;
  });

  // A quarter of the baseline lies after the first event from 4.3 days ago on: there the same pace is no spike yet.
  expect(page.chart.at.length).toBeLessThan(105);
  expect(new Set(page.chart.severity)).toEqual(new Set(["ok"]));
  expect(page.chart.count).toContain(40);
  expect(page.chart.at).toEqual(page.chart.at.toSorted((left, right) => left - right));
  const alerts = (await (await fetch(`${url}/api/v1/alerts`)).json()) as { alerts: unknown[] };
  expect(alerts.alerts).toEqual([]);
  expect(page.text).toContain("No alert in this time.");
  expect(await (await fetch(`${url}/o/empty`)).text()).toContain("0 deaths");
});
