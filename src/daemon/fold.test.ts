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

it("moves runs into hours once their hour is over", async () => {
  const clock = createVirtualClock({ startMs });
  const store = await backend.connect();
  const before = await createRunProcess(store, clock);
  await before.record(resultReport({ finishedAtMs: startMs - hourMs }));
  const fold = createFold({ store, clock, logger: createSilentLogger() });
  const span = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
  const open = async (): Promise<number> => (await store.runs.openHours([1], span)).length;

  fold.start();
  await clock.advance(2 * minuteMs);
  const folded = await open();
  const own = await createRunProcess(store, clock);
  own.board.learn(await store.runs.load());
  await own.record(resultReport({ finishedAtMs: clock.nowMs() }));
  await clock.advance(2 * minuteMs);
  const withinTheHour = await open();
  await clock.advance(hourMs);
  await own.record(resultReport({ finishedAtMs: clock.nowMs() }));
  const afterIt = await open();
  await fold.stop();

  expect([folded, withinTheHour, afterIt]).toEqual([0, 1, 1]);
  const ends = [startMs - hourMs, startMs + 2 * minuteMs, startMs + hourMs + 4 * minuteMs];
  expect((await own.history.runs(all)).map(({ atMs }) => atMs)).toEqual(ends);
  const next = await createRunProcess(store, clock);
  expect(next.board.state("dead-asset-spike", "acme")).toMatchObject({ lastRunAtMs: ends[2] });
});
