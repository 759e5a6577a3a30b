import { FlatlineError, asFlatlineError } from "../base/errors.ts";
import { createLoop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { Board } from "../store/runs/board.ts";
import type { Store } from "../store/store.ts";
import type { Writer } from "../store/writer.ts";

export interface LastStatesOptions {
  readonly store: Pick<Store, "runs">;
  readonly writer: Pick<Writer, "isSure" | "renew">;
  /** Has the states of the store already. */
  readonly board: Board;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after the board was read again. */
  readonly onRead: () => void;
}

/** Knows whether the board matches the store. After a commit of unknown end no run begins until it is read again. */
export function createLastStates({ store, writer, board, clock, ...options }: LastStatesOptions) {
  const logger = options.logger.child({ room: "monitor" });
  const loop = createLoop({
    clock,
    everyMs: Infinity,
    firstAfterMs: Infinity,
    retryAfterMs: secondMs,
    runOnce: readAgain,
    onError: (error) => {
      doubted = asFlatlineError(error);
      logger.debug({ err: error }, "last states could not be read, trying again");
    },
  });
  /** Why the board may be wrong; null: it is not. */
  let doubted: FlatlineError | null = null;

  async function readAgain(): Promise<void> {
    if (doubted === null) return;
    // A full disk can still be read: no run begins before the store takes writes again.
    await writer.renew();
    board.learn(await store.runs.load());
    doubted = null;
    options.onRead();
  }

  return {
    start: loop.start,
    /** Whether a run may begin: the board is right, and no other process writes to the store. */
    areKnown: (): boolean => doubted === null && writer.isSure(),
    /** Says that it is unknown whether the store took a commit. */
    doubt: (): void => {
      if (doubted === null) logger.warn({}, "it is not known what the store has taken, reading it again");
      doubted ??= new FlatlineError("store_unusable", "it is not known what the store has taken");
      loop.wake();
    },
    /** @throws what keeps the store from being written */
    stop: async (): Promise<void> => {
      await loop.stop();
      if (doubted !== null) throw doubted;
      // The exit code says whether the store could be written, also where nothing was under way.
      await writer.renew();
    },
  };
}
