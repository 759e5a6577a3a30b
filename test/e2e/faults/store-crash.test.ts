import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { createSystemClock } from "../../../src/base/time.ts";
import { openStore } from "../../../src/store/open.ts";
import { Board } from "../../../src/store/runs/board.ts";
import { createHistory } from "../../../src/store/runs/history.ts";
import { alertIdOf, reportOf, runNumberOf, slugs } from "../../support/program/crash-runs.ts";
import { startLineProcess } from "../../support/program/line-process.ts";
import { isLong } from "../../support/tier.ts";

const kills = isLong ? 100 : 5;
// Everything is read after each kill: from time to time a new database, or the last kills would take longest.
const killsADatabase = 20;
const check = "dead-asset-spike";
const hourMs = 3_600_000;
const startMs = Date.parse("2026-11-02T08:00:00.000Z");

/** The highest number that a process said of each organization. */
type Said = Record<"recorded" | "delivered", Record<string, number>>;

function note(said: Said, lines: readonly string[]): void {
  for (const line of lines) {
    const [what, slug = "", number] = line.split(" ");
    if (what !== "recorded" && what !== "delivered") continue;
    said[what][slug] = Math.max(said[what][slug] ?? 0, Number(number));
  }
}

function oneTo(first: number, last: number): number[] {
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);
}

function pragma(path: string, name: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  try {
    return database.prepare(`pragma ${name}`).all();
  } finally {
    database.close();
  }
}

/** What the store holds must be what the processes said or later, whole, and without a gap. */
async function expectWhole(path: string, said: Said): Promise<void> {
  const store = await openStore({ path, clock: createSystemClock() });
  try {
    const changes = await store.notices.changes();
    const waiting = await store.outbox.list();
    const board = new Board();
    board.learn(await store.runs.load());
    const kept = createHistory(store.runs);
    for (const slug of slugs) {
      const state = board.state(check, slug);
      const last = runNumberOf(state?.lastReport ?? null);
      const query = { check, slug, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER } as const;
      const points = await kept.runs(query);
      const alert = await store.alerts.byId(alertIdOf(slug));
      const history = await store.alertHistory.since({ check, slug, fromMs: 0, limit: 1 });
      const numbers = waiting.flatMap(({ id }) => (id.startsWith(`${slug}-`) ? [Number(id.split("-")[1])] : []));

      expect(last, `${slug}: what was said to be recorded`).toBeGreaterThanOrEqual(said.recorded[slug] ?? 0);
      expect(points.map(({ atMs }) => runNumberOf({ finishedAtMs: atMs }))).toEqual(oneTo(1, last));
      expect((await kept.reports({ ...query, limit: 1 })).map(runNumberOf)).toEqual(last === 0 ? [] : [last]);
      expect(alert?.unknownRuns ?? 0).toBe(last);
      expect(history.map(({ atMs }) => runNumberOf({ finishedAtMs: atMs }))).toEqual(last === 0 ? [] : [last]);
      expect(changes.filter((change) => change.slug === slug)).toHaveLength(last);
      // In order, so what waits is the end of it.
      expect(numbers).toEqual(oneTo(last - numbers.length + 1, last));
      expect(last - numbers.length, `${slug}: what was said to be delivered`).toBeGreaterThanOrEqual(
        said.delivered[slug] ?? 0,
      );
      if (last > 0) {
        expect(state?.severity).toBe(reportOf(slug, last).severity);
        expect(points.at(-1)?.severity).toBe(state?.severity);
        expect(alert?.severity).toBe(state?.severity);
      }
    }
  } finally {
    await store.close();
  }
  expect(pragma(path, "integrity_check")).toEqual([{ integrity_check: "ok" }]);
  expect(pragma(path, "foreign_key_check")).toEqual([]);
}

/** Two writers on one store, killed when one of them has said so many lines; `round` tells their time. */
async function killWriters(path: string, round: number, afterLines: number): Promise<string[]> {
  // An hour later each time: the leases of the dead have run out.
  const nowMs = String(startMs + round * hourMs);
  const writers = ["a", "b"].map((name) =>
    startLineProcess("program/crash-writer.ts", [path, `${name}${round}`, nowMs]),
  );
  await Promise.race(writers.map((writer) => writer.untilLines(afterLines)));
  await Promise.all(writers.map((writer) => writer.kill()));
  return writers.flatMap(({ lines }) => lines);
}

describe("a store whose processes are killed", () => {
  const name = `loses nothing that was committed and keeps no half of anything, ${kills} times`;
  it(name, { timeout: kills * 20_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-crash-"));
    let said: Said = { recorded: {}, delivered: {} };

    for (let kill = 0; kill < kills; kill++) {
      const path = join(folder, `${Math.floor(kill / killsADatabase)}.db`);
      if (kill % killsADatabase === 0) said = { recorded: {}, delivered: {} };
      // Spread from the opening, where the first pair makes the database, to amid some hundred transactions.
      note(said, await killWriters(path, kill, 1 + ((kill * 37) % 101)));
      await expectWhole(path, said);
    }

    expect(Object.keys(said.recorded).toSorted()).toEqual([...slugs]);
    expect(Object.keys(said.delivered).toSorted()).toEqual([...slugs]);
    await rm(folder, { recursive: true });
  });
});
