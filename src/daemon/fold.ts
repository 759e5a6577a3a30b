import { createLoop, type Loop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { hourMs, minuteMs, type Clock } from "../base/time.ts";
import type { Membership } from "../monitor/membership.ts";
import type { Board } from "../store/runs/board.ts";
import { foldJournal } from "../store/runs/fold.ts";
import type { Store } from "../store/store.ts";

export interface FoldOptions {
  readonly store: Pick<Store, "isShared" | "runs" | "exclusively">;
  readonly board: Board;
  readonly membership: Pick<Membership, "journal" | "follow">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const lookEveryMs = minuteMs;
// Between two slices everybody else gets the store.
const pauseMs = 20;

/** Creates the loop that folds the own journal into the history after each hour, and those of owners that have ended. */
export function createFold({ store, board, membership, clock, logger }: FoldOptions): Loop {
  const onError = (error: unknown): void => logger.error({ err: error }, "journal not folded, trying again");
  const loop = createLoop({ clock, everyMs: lookEveryMs, firstAfterMs: lookEveryMs, runOnce: look, onError });
  let foldedHour = Math.floor(clock.nowMs() / hourMs);
  /** With this one no other owner is left, and on a file none comes while it lasts. */
  let onlyOwnerId: number | null = null;

  async function look(): Promise<void> {
    const hour = Math.floor(clock.nowMs() / hourMs);
    const journal = membership.journal();
    if (journal !== null && hour !== foldedHour) {
      await fold(journal.owner.ownerId, await journal.cut());
      foldedHour = hour;
    }
    if (store.isShared || journal === null || journal.owner.ownerId !== onlyOwnerId)
      await store.exclusively("fold of ended owners", foldEnded);
  }

  async function foldEnded(): Promise<void> {
    await membership.follow();
    const { owners } = await store.runs.journalAfter(board.known());
    const ownId = membership.journal()?.owner.ownerId;
    for (const { ownerId, isEnded } of owners)
      if (isEnded && ownerId !== ownId) await fold(ownerId, board.known().get(ownerId) ?? 0);
    onlyOwnerId = owners.length === 1 && owners[0]?.ownerId === ownId ? (ownId ?? null) : null;
  }

  async function fold(ownerId: number, throughSeq: number): Promise<void> {
    const pause = async (): Promise<boolean> => {
      await clock.sleep(pauseMs, loop.signal);
      return !loop.signal.aborted;
    };
    await foldJournal({ runs: store.runs, board, ownerId, throughSeq, pause });
    logger.debug({ ownerId, throughSeq }, "journal folded");
  }

  return loop;
}
