import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, expect, it } from "vitest";

import { createSystemClock, minuteMs } from "../../src/base/time.ts";
import type { App } from "../../src/daemon/create-app.ts";
import { eventually } from "../support/program/program.ts";
import { openStore } from "../../src/store/open.ts";
import type { StoreParts } from "../../src/store/store-parts.ts";
import { createTestApp } from "../support/program/test-app.ts";

const slugs = Array.from({ length: 300 }, (_, index) => `org-${index}`);
const deathsEach = 12;

let folder: string;
let app: App | null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-together-"));
  app = null;
});
afterEach(async () => {
  await app?.stop();
  await rm(folder, { recursive: true, force: true });
});

function eventsCsv(nowMs: number): string {
  const rows = slugs.flatMap((slug) =>
    Array.from({ length: deathsEach }, (_, index) => {
      const at = new Date(nowMs - (index + 1) * minuteMs).toISOString();
      return `${at},${slug},URL,https://${slug}-${index}.example`;
    }),
  );
  return ["at,slug,assetType,asset", ...rows, ""].join("\n");
}

it("stores hundreds of alerts that fire in one round in a few commits, each with its change", async () => {
  const clock = createSystemClock();
  await writeFile(join(folder, "events.csv"), eventsCsv(clock.nowMs()));
  await writeFile(
    join(folder, "flatline.yaml"),
    `
source: { type: embedded, preload: [{ events: events.csv }] }
organizations: [${slugs.join(", ")}]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`,
  );
  let commits = 0;
  const counting: typeof openStore = async (options) => {
    const store = await openStore(options);
    const counted = (parts: StoreParts): StoreParts => {
      const commit: StoreParts["runs"]["commit"] = (runs) => (commits++, parts.runs.commit(runs));
      return { ...parts, runs: { ...parts.runs, commit } };
    };
    return { ...store, transaction: (work) => store.transaction((parts) => work(counted(parts))) };
  };
  app = await createTestApp(folder, { clock, openStore: counting });
  await app.start();
  using database = new DatabaseSync(join(folder, "flatline.db"), { readOnly: true });
  const one = (sql: string) => Number(database.prepare(sql).get()?.["value"]);
  await eventually(() => one("select count(*) as value from alerts") === slugs.length, 60_000);

  const tookMs = one("select max(at_ms) - min(at_ms) as value from runs");
  // One each 250 ms at most, and those that begin and end it; alone, each run is one.
  expect(commits).toBeLessThanOrEqual(tookMs / 250 + 3);
}, 90_000);
