import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { hourMs, minuteMs, secondMs } from "../../base/time.ts";
import type { CheckReport } from "../../contract/report.ts";
import { Board } from "./board.ts";
import { packRow, WrittenRuns, type JournalRun } from "./journal-row.ts";
import { splitReport } from "./report-shape.ts";
import type { JournalRecord } from "./runs.ts";

const startMs = Date.UTC(2026, 10, 2, 7, 58);
const check = "dead-asset-spike" as const;
const checkIds = [1, 2, 3, 4, 5, 6];
const ownerIds = [1, 2];
const slugOf = (checkId: number): string => `org-${checkId}`;

/** What a commit does with a check: repeats its last report, has another one, or does not run it. */
const acts = fc.constantFrom("repeat", "repeat", "repeat", "ok", "fail", "error", "nothing");
const commits = fc.array(
  fc.record({
    owner: fc.constantFrom(...ownerIds),
    acts: fc.array(acts, { minLength: checkIds.length, maxLength: checkIds.length }),
    // Mostly in order; a clock may be set back, and an hour may turn.
    laterMs: fc.constantFrom(secondMs, secondMs, minuteMs, minuteMs, 20 * minuteMs, hourMs, -5 * minuteMs),
    /** What is asked of the board before the next commit. */
    asked: fc.constantFrom("nothing", "nothing", "state", "runs", "states", "fold", "remove"),
  }),
  { maxLength: 40 },
);

function reportOf(act: string, slug: string, atMs: number): CheckReport {
  const times = { slug, startedAtMs: atMs, finishedAtMs: atMs + 3 };
  if (act === "error") return errorReport(times);
  return resultReport({ ...times, severity: act === "fail" ? "fail" : "ok" });
}

function boardOf(): Board {
  const board = new Board();
  for (const checkId of checkIds) board.name(checkId, { check, slug: slugOf(checkId) });
  return board;
}

function shownOf(board: Board) {
  return {
    states: checkIds.map((checkId) => board.stateOf(checkId)?.toRecord(checkId) ?? null),
    runs: checkIds.map((checkId) => board.openRuns({ check, slug: slugOf(checkId) })),
    folds: ownerIds.map((ownerId) => {
      const { hours, states } = board.toFold(ownerId);
      return { hours: [...hours()], states };
    }),
  };
}

/** What a restart shows of these rows. */
async function shownAfterRestart(journal: readonly JournalRecord[]) {
  const board = new Board();
  const checks = checkIds.map((checkId) => ({ checkId, check, slug: slugOf(checkId) }));
  const owners = ownerIds.map((ownerId) => ({ ownerId, foldedSeq: 0, isEnded: false }));
  const ordered = journal.toSorted((left, right) => left.ownerId - right.ownerId || left.seq - right.seq);
  await board.reload(() => Promise.resolve({ checks, board: [], owners, journal: ordered }));
  return shownOf(board);
}

/** What owners have written, on boards that apply it in groups and run by run. */
function createWorld() {
  const grouped = boardOf();
  const single = boardOf();
  const followed = boardOf();
  const journal: JournalRecord[] = [];
  const seqs = new Map(ownerIds.map((ownerId) => [ownerId, 0]));
  let written = new Map(ownerIds.map((ownerId) => [ownerId, new WrittenRuns()]));
  /** Who ran each check last, since the last fold. */
  const lastOwners = new Map<number, number>();

  function commit(owner: number, given: readonly string[], nowMs: number): void {
    const times = { dueAtMs: nowMs - 7, startedAtMs: nowMs, finishedAtMs: nowMs + 3 };
    const runs: JournalRun[] = [];
    const repeats: JournalRun[] = [];
    for (const [index, checkId] of checkIds.entries()) {
      const act = given[index] ?? "nothing";
      const last = single.stateOf(checkId)?.split;
      const isRepeat = act === "repeat" && last !== undefined && lastOwners.get(checkId) === owner;
      if (act === "nothing") continue;
      const report = isRepeat ? last : splitReport(reportOf(act, slugOf(checkId), nowMs));
      (isRepeat ? repeats : runs).push({ checkId, ...times, isAsked: false, isReportKept: false, report });
      lastOwners.set(checkId, owner);
    }
    const seq = (seqs.get(owner) ?? 0) + 1;
    seqs.set(owner, seq);
    const row = { runs, repeats: [{ ...times, checkIds: Int32Array.from(repeats.map(({ checkId }) => checkId)) }] };
    grouped.apply(owner, seq, row);
    single.apply(owner, seq, { runs: [...runs, ...repeats], repeats: [] });
    const packed = packRow(row, written.get(owner) ?? new WrittenRuns());
    const record = { ownerId: owner, seq, atMs: nowMs, runs: packed };
    journal.push(record);
    followed.read(record);
  }

  function ask(asked: string): void {
    for (const board of [grouped, single]) {
      if (asked === "state") board.stateOf(2);
      if (asked === "runs") board.openRuns({ check, slug: slugOf(3) });
      if (asked === "states") board.states();
      if (asked === "fold") for (const [ownerId, foldedSeq] of seqs) board.noteFolded({ ownerId, foldedSeq });
      if (asked === "remove") board.keepOnly(({ slug }) => slug !== slugOf(4));
    }
    if (asked === "remove") lastOwners.delete(4);
    if (asked !== "fold") return;
    // A fold cuts the journals.
    lastOwners.clear();
    written = new Map(ownerIds.map((ownerId) => [ownerId, new WrittenRuns()]));
  }

  return { grouped, single, followed, journal, commit, ask };
}

describe("runs that repeat their reports as one", () => {
  it("leave the board, the history and what is folded as the same runs one by one", () => {
    fc.assert(
      fc.property(commits, (given) => {
        const world = createWorld();
        let nowMs = startMs;
        for (const { owner, acts: all, laterMs, asked } of given) {
          nowMs += laterMs;
          world.commit(owner, all, nowMs);
          world.ask(asked);
        }

        expect(shownOf(world.grouped)).toEqual(shownOf(world.single));
      }),
      { numRuns: 300 },
    );
  });

  it("are the same to a replica, and after a restart", async () => {
    await fc.assert(
      fc.asyncProperty(commits, fc.boolean(), async (given, isOne) => {
        const world = createWorld();
        let nowMs = startMs;
        for (const { owner, acts: all, laterMs } of given) {
          nowMs += Math.abs(laterMs);
          world.commit(isOne ? 1 : owner, all, nowMs);
        }

        expect(shownOf(world.followed)).toEqual(shownOf(world.single));
        // The journals of several owners are read one after the other, which loses when a severity began.
        if (isOne) expect(await shownAfterRestart(world.journal)).toEqual(shownOf(world.single));
      }),
      { numRuns: 300 },
    );
  });

  it("are among the changed states where they end an hour", () => {
    const { grouped, commit } = createWorld();
    const [ok, repeat] = [checkIds.map(() => "ok"), checkIds.map(() => "repeat")];
    commit(1, ok, startMs);
    commit(1, repeat, startMs + minuteMs);
    const nextMs = startMs + 3 * minuteMs;
    const times = { dueAtMs: nextMs, startedAtMs: nextMs, finishedAtMs: nextMs };

    const changed = grouped.apply(1, 3, { runs: [], repeats: [{ ...times, checkIds: Int32Array.from(checkIds) }] });

    expect(changed.map(({ lastRunAtMs }) => lastRunAtMs)).toEqual(checkIds.map(() => startMs + minuteMs + 3));
    expect(grouped.stateOf(1)?.lastRunAtMs).toBe(nextMs);
  });
});
