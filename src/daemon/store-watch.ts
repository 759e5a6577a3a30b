import { FlatlineError } from "../base/errors.ts";
import { createLoop, type Loop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { Store, StoreProblem } from "../store/store.ts";

/** Whether the store is there: whether the database answers, or the file is still the one that was opened. */
export interface StoreWatch {
  readonly start: Loop["start"];
  readonly stop: Loop["stop"];
  /** Returns whether it did not answer the last question. */
  isAway(): boolean;
  /** Returns for how long it has not answered, ms; 0 while it does. */
  awayForMs(): number;
  /** Returns for how long it has answered again, ms; Infinity when it was never unavailable. */
  backForMs(): number;
  /** Returns what is wrong with the file, as of the last look; null with a database. */
  problem(): StoreProblem | null;
}

export interface StoreWatchOptions {
  readonly store: Pick<Store, "isRemote" | "nowMs" | "problem" | "failures">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after each look at the database. */
  readonly onLook: () => Promise<void>;
  /** Called when the file's fault changes or ends. */
  readonly onProblem: () => void;
  /** Called after statements have failed, of which some may have been done all the same. */
  readonly onFailed: () => void;
}

// A load balancer should learn of it before many requests have failed; one small query costs nothing.
const lookEveryMs = secondMs;
// An overloaded database is slow, but not unavailable.
const answerWithinMs = 5 * secondMs;

// A look comes sooner than an orchestrator asks three times whether the daemon is well, and costs next to nothing.
const lookAtFileEveryMs = 3 * secondMs;

/** Asks the database every second; looks at a file every 3 s. */
export function createStoreWatch({ store, clock, logger, onLook, onProblem, onFailed }: StoreWatchOptions): StoreWatch {
  const [everyMs, runOnce] = store.isRemote ? [lookEveryMs, watchDatabase] : [lookAtFileEveryMs, watchFile];
  const loop = createLoop({ clock, everyMs, runOnce, onError: noteUnread });
  const stopped = new Promise<void>((resolve) => {
    loop.signal.addEventListener("abort", () => resolve());
  });
  let awaySinceMs: number | null = null;
  let backSinceMs = -Infinity;
  let problem: StoreProblem | null = null;
  let failures = 0;

  async function look(): Promise<void> {
    const answered = new AbortController();
    const late = noteSilence(answered.signal);
    const asked = store.nowMs().then(
      () => note(null),
      (error: unknown) => note(error),
    );
    // A stop does not wait for a server that is unavailable.
    await Promise.race([asked, stopped]);
    answered.abort();
    await late;
  }

  async function noteSilence(answered: AbortSignal): Promise<void> {
    await clock.sleep(answerWithinMs, AbortSignal.any([answered, loop.signal]));
    if (!answered.aborted) note(new FlatlineError("store_busy", "the store does not answer in time"));
  }

  function note(error: unknown): void {
    if (loop.signal.aborted) return;
    const nowMs = clock.monotonicMs();
    if (error !== null && awaySinceMs === null) {
      awaySinceMs = nowMs;
      logger.error({ err: error }, "store cannot be reached, trying again");
    } else if (error === null && awaySinceMs !== null) {
      logger.info({ awayMs: Math.round(nowMs - awaySinceMs) }, "store is back");
      awaySinceMs = null;
      backSinceMs = nowMs;
    }
  }

  async function watchDatabase(): Promise<void> {
    await look();
    await onLook();
  }

  async function watchFile(): Promise<void> {
    const found = await store.problem();
    const isNews = found?.kind !== problem?.kind;
    problem = found;
    if (isNews) report();
    const before = failures;
    failures = store.failures();
    if (failures !== before) onFailed();
  }

  // A failed read is repeated at the next look.
  function noteUnread(error: unknown): void {
    logger.debug({ err: error }, "store could not be looked at, trying again");
  }

  function report(): void {
    if (problem === null) logger.info({}, "store is well again");
    else logger.error({ store: problem.place, problem: problem.message }, "store is lost or cannot be used");
    onProblem();
  }

  const away = (): number => (awaySinceMs === null ? 0 : clock.monotonicMs() - awaySinceMs);
  return {
    start: loop.start,
    stop: loop.stop,
    isAway: () => awaySinceMs !== null,
    awayForMs: away,
    problem: () => problem,
    backForMs: () => (awaySinceMs === null ? clock.monotonicMs() - backSinceMs : 0),
  };
}

/** The last look at a file, at what it holds, too. @throws FlatlineError store_unusable while something is wrong with it */
export async function requireStore(store: Pick<Store, "check" | "problem">): Promise<void> {
  const problem = await store.problem();
  if (problem !== null) throw new FlatlineError("store_unusable", problem.message);
  await store.check();
}
