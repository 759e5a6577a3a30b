import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { createSystemClock, dayMs, hourMs } from "../../base/time.ts";
import { openStore } from "../open.ts";

const nowMs = Date.parse("2026-11-02T08:00:00.000Z");
const series = 100;
const hours = 83 * 24;
const clock = createSystemClock();

/** Shortest of five, milliseconds: what the machine does beside is not measured. */
async function shortestMs(work: () => unknown): Promise<number> {
  let shortest = Infinity;
  for (let round = 0; round < 5; round++) {
    const startedMs = clock.monotonicMs();
    await work();
    shortest = Math.min(shortest, clock.monotonicMs() - startedMs);
  }
  return shortest;
}

describe("a round of compaction", () => {
  it("that finds nothing to do reads a small part of a long history only", async () => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-compaction-"));
    const path = join(folder, "flatline.db");
    const store = await openStore({ path, clock });
    const database = new DatabaseSync(path);
    database.exec("begin");
    const addSeries = database.prepare(
      "insert into verdict_series (series_id, check_name, slug) values (?, 'check', ?)",
    );
    const addHour = database.prepare("insert into verdict_hours values (?, ?, ?, 0, 100, 700, 100.5, 90, 120)");
    const lastHour = Math.floor((nowMs - 7 * dayMs) / hourMs) - 1;
    for (let index = 1; index <= series; index++) {
      addSeries.run(index, `org-${index}`);
      for (let hour = lastHour - hours + 1; hour <= lastHour; hour++) addHour.run(index, hour, hour * hourMs);
    }
    database.exec("commit");
    const compact = () => store.verdicts.compact({ nowMs, retentionMs: 90 * dayMs + hourMs, maxRows: 1_000 });
    expect(await compact()).toEqual({ hasMore: false });

    const compactMs = await shortestMs(compact);

    const readAll = database.prepare("select sum(severity) from verdict_hours");
    const readAllMs = await shortestMs(() => readAll.get());
    expect(compactMs).toBeLessThan(readAllMs / 2);
    expect(database.prepare("select count(*) as rows from verdict_hours").get()).toEqual({ rows: series * hours });
    database.close();
    await store.close();
    await rm(folder, { recursive: true });
  });
});
