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
import { addChecks } from "./check-numbers.ts";
import { createHourTable } from "./hours.ts";

const check = { check: "dead-asset-spike", slug: "acme" } as const;

let folder: string;
let db: Kysely<PlainTables>;
let plain: DatabaseSync;
let runs: ReturnType<typeof createHourTable>;
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
  runs = createHourTable(db);
  await addChecks(db, [check]);
  plain = new DatabaseSync(path);
});

afterAll(async () => {
  plain.close();
  await db.destroy();
  await rm(folder, { recursive: true, force: true });
});

it.each<[string, () => Promise<unknown>]>([
  ["the runs of a check", () => runs.runsOf({ ...check, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER })],
  ["its first run", () => runs.firstRunAtMs(check)],
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
  expect(plans.some((plan) => plan.startsWith("SEARCH hours"))).toBe(true);
  expect(plans.filter((plan) => plan.startsWith("SCAN hours"))).toEqual([]);
});
