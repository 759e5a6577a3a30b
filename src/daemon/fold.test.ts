import { afterEach, beforeEach, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { createFastStore, type FastStore } from "../../test/support/store/fast.ts";
import { createRunProcess } from "../../test/support/program/run-process.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../base/logger.ts";
import { hourMs, minuteMs } from "../base/time.ts";
import { createFold } from "./fold.ts";

const startMs = Date.UTC(2026, 10, 22, 12, 10);
const all = { check: "dead-asset-spike", slug: "acme", fromMs: 0, toMs: Number.MAX_SAFE_INTEGER } as const;

let backend: FastStore;
beforeEach(async () => {
  backend = await createFastStore();
});
afterEach(() => backend.remove());

it("moves the journal into the history after each hour, and what processes that have ended left behind at once", async () => {
  const clock = createVirtualClock({ startMs });
  const store = await backend.connect();
  const before = await createRunProcess(store, clock);
  await before.record(resultReport({ finishedAtMs: startMs - minuteMs }));
  await store.owners.leave(before.journal.owner);
  const own = await createRunProcess(store, clock);
  await own.record(resultReport({ finishedAtMs: startMs }));
  const fold = createFold({
    store,
    board: own.board,
    membership: { journal: () => own.journal, follow: async () => undefined },
    clock,
    logger: createSilentLogger(),
  });
  const journalOf = async (): Promise<number[]> => (await store.runs.load()).journal.map(({ ownerId }) => ownerId);

  fold.start();
  await clock.advance(2 * minuteMs);
  const withinTheHour = await journalOf();
  await clock.advance(hourMs);
  await own.record(resultReport({ finishedAtMs: clock.nowMs() }));
  const afterIt = await journalOf();
  await fold.stop();

  const { ownerId } = own.journal.owner;
  expect(withinTheHour).toEqual([ownerId]);
  expect(afterIt).toEqual([ownerId]);
  expect((await store.runs.load()).owners).toMatchObject([{ ownerId, foldedSeq: 1, isEnded: false }]);
  const ends = [startMs - minuteMs, startMs, startMs + hourMs + 2 * minuteMs];
  expect((await own.history.runs(all)).map(({ atMs }) => atMs)).toEqual(ends);
  const next = await createRunProcess(store, clock);
  expect((await next.history.runs(all)).map(({ atMs }) => atMs)).toEqual(ends);
  expect(next.board.state("dead-asset-spike", "acme")).toMatchObject({ lastRunAtMs: ends[2] });
});
