import { afterAll, beforeAll, expect, it } from "vitest";

import type { CursorNumbers } from "../../../src/web/pages/chart/data.ts";
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

  const { numbers, text } = await eventually(async () => {
    const page = await (await fetch(`${url}/o/acme?range=7d`)).text();
    const [, json = "{}"] = /<script type="application\/json">([^<]*)</.exec(page) ?? [];
    const read = JSON.parse(json) as CursorNumbers;
    return (read.states ?? []).length > 0 ? { numbers: read, text: page } : null;
  });

  const [counts] = numbers.lines;
  expect(counts?.values).toContain(40);
  // A quarter of the baseline lies after the first event from 4.3 days ago on: there the same pace is no spike yet.
  expect(numbers.states?.map(({ severity }) => severity)).toEqual(["ok"]);
  expect(numbers.at).toEqual(numbers.at.toSorted((left, right) => left - right));
  const { alerts } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as { alerts: readonly unknown[] };
  expect(alerts).toEqual([]);
  expect(text).toContain("None within 90");
  expect(await (await fetch(`${url}/o/empty`)).text()).toContain("0 deaths");
});
