import { createRecorder, type Recorder, type RecorderOptions } from "../../../src/alerting/record.ts";
import { recordRun } from "../record-run.ts";
import { createSilentLogger } from "../../../src/base/logger.ts";
import type { CheckReport } from "../../../src/contract/report.ts";
import { Board } from "../../../src/store/runs/board.ts";
import type { History, PointsQuery, RunPoint } from "../../../src/store/runs/history.ts";
import type { Store } from "../../../src/store/store.ts";
import type { VirtualClock } from "../virtual-clock.ts";
import { quietSettings } from "../quiet-settings.ts";

/** A process on a store that runs checks: its board and its recorder. */
export interface RunProcess {
  readonly board: Board;
  readonly history: History;
  readonly recorder: Recorder;
  /** Records runs of the test's making, each in a commit of its own, in order. */
  record(...reports: readonly CheckReport[]): Promise<void>;
  /** Makes the hours that have ended, and deletes what is older than these instants [nothing]. */
  tidy(nowMs: number, limits?: { readonly runsBeforeMs?: number; readonly beforeMs?: number }): Promise<void>;
}

/** A process that begins now; it decides no alerts unless `over` has settings. */
export async function createRunProcess(
  store: Store,
  clock: Pick<VirtualClock, "nowMs" | "monotonicMs" | "sleep">,
  over: Partial<RecorderOptions> = {},
): Promise<RunProcess> {
  const board = new Board();
  board.learn(await store.runs.load());
  const recorder = createRecorder({
    store,
    board,
    onDoubt: () => undefined,
    clock: clock as RecorderOptions["clock"],
    logger: createSilentLogger(),
    newId: () => crypto.randomUUID(),
    settings: () => quietSettings,
    intervalOf: () => 300_000,
    onChange: () => undefined,
    ...over,
  });
  return {
    board,
    history: store.runs,
    recorder,
    record: async (...reports) => {
      for (const report of reports) {
        const { check, slug, startedAtMs } = report;
        const run = { check, slug, dueAtMs: startedAtMs, isAsked: false };
        await recordRun(recorder, { run, report, nextDueAtMs: startedAtMs + 300_000 });
      }
    },
    tidy: async (nowMs, limits = {}) => {
      const all = { nowMs, runsBeforeMs: 0, beforeMs: 0, ...limits };
      for (let afterId: number | null = 0; afterId !== null;) afterId = await store.runs.tidy(afterId, all);
    },
  };
}

/** Returns the points of one organization, oldest first. */
export async function pointsOf(
  history: Pick<History, "points">,
  { slug, ...query }: Omit<PointsQuery, "slugs"> & { readonly slug: string },
): Promise<readonly RunPoint[]> {
  const found: RunPoint[] = [];
  for await (const [, points] of history.points({ ...query, slugs: [slug] })) found.push(...points);
  return found;
}
