import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

import { Kysely, type CompiledQuery } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";

import { createSystemClock } from "../../base/time.ts";
import { createSqliteDialect } from "../engine/sqlite-driver.ts";
import { openStore } from "../open.ts";
import type { PlainTables } from "../schema.ts";
import { createRunStore } from "./run-tables.ts";
import type { RunStore } from "./runs.ts";

const check = { check: "dead-asset-spike", slug: "acme" } as const;

let folder: string;
let db: Kysely<PlainTables>;
let plain: DatabaseSync;
let runs: RunStore;
let asked: CompiledQuery[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-run-tables-"));
  const path = join(folder, "flatline.db");
  const clock = createSystemClock();
  await (await openStore({ path, clock })).close();
  db = new Kysely<PlainTables>({
    dialect: createSqliteDialect({ path, clock }),
    log: (event) => {
      asked.push(event.query);
    },
  });
  runs = createRunStore(db);
  await runs.addChecks([check]);
  plain = new DatabaseSync(path);
});

afterAll(async () => {
  plain.close();
  await db.destroy();
  await rm(folder, { recursive: true, force: true });
});

it.each<[string, () => Promise<unknown>]>([
  ["the runs of a check", () => runs.foldedRuns(check, { from: 0, to: Number.MAX_SAFE_INTEGER })],
  ["its first hour", () => runs.firstFoldedHour(check)],
  ["an hour of several checks", () => runs.foldedHour(1, new Set([1, 2]))],
])("finds %s by the keys of the hours, however many there are", async (_what, read) => {
  asked = [];
  await read();

  const plans = asked.flatMap(({ sql, parameters }) =>
    plain
      .prepare(`explain query plan ${sql}`)
      .all(...(parameters as readonly SQLInputValue[]))
      .map(({ detail }) => String(detail)),
  );
  expect(plans.some((plan) => plan.startsWith("SEARCH check_hours"))).toBe(true);
  expect(plans.filter((plan) => plan.startsWith("SCAN check_hours"))).toEqual([]);
});
