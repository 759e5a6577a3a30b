import { FlatlineError } from "../base/errors.ts";
import { endsWithin } from "../base/lifecycle.ts";
import { createLoop } from "../base/loop.ts";
import { secondMs } from "../base/time.ts";
import type { Store, StoreProblem } from "../store/store.ts";
import type { Ground } from "./ground.ts";

// A load balancer should learn of it before many requests have failed; one small query costs nothing.
const lookEveryMs = secondMs;
// An overloaded database is slow, but not unavailable.
const answerWithinMs = 5 * secondMs;

// A look comes sooner than an orchestrator asks three times whether the daemon is well, and costs next to nothing.
const lookAtFileEveryMs = 3 * secondMs;

/**
 * Watches whether the store is there: asks a database every second whether it answers, and looks every 3 s whether a file is still
 * the one that was opened. `onLook` is called after each look at a database.
 */
export function createStoreWatch({ store, clock, logger, bus }: Ground, onLook: () => void) {
  const [everyMs, runOnce] = store.isRemote ? [lookEveryMs, watchDatabase] : [lookAtFileEveryMs, watchFile];
  // A failed read is repeated at the next look.
  const onError = (error: unknown): void => logger.debug({ err: error }, "store could not be looked at, trying again");
  const loop = createLoop({ clock, everyMs, runOnce, onError });
  let awaySinceMs: number | null = null;
  let backSinceMs = -Infinity;
  let problem: StoreProblem | null = null;
  let failures = 0;

  async function watchDatabase(): Promise<void> {
    const silence = new FlatlineError("store_busy", "the store does not answer in time");
    // A stop does not wait for a server that is unavailable.
    const error = await endsWithin(clock, store.nowMs(), answerWithinMs, loop.signal).then(
      (isThere): unknown => (isThere ? null : silence),
      (error: unknown) => error,
    );
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
    onLook();
  }

  async function watchFile(): Promise<void> {
    const found = await store.problem();
    const isNews = found?.kind !== problem?.kind;
    problem = found;
    if (isNews) {
      if (problem === null) logger.info({}, "store is well again");
      else logger.error({ store: problem.place, problem: problem.message }, "store is lost or cannot be used");
      bus.emit("stored", "else");
    }
    const before = failures;
    failures = store.failures();
    // Some statements may have been done all the same.
    if (failures !== before) bus.emit("changed");
  }

  return {
    start: loop.start,
    stop: loop.stop,
    /** Returns whether it did not answer the last question. */
    isAway: (): boolean => awaySinceMs !== null,
    /** Returns for how long it has not answered, ms; 0 while it does. */
    awayForMs: (): number => (awaySinceMs === null ? 0 : clock.monotonicMs() - awaySinceMs),
    /** Returns for how long it has answered again, ms; Infinity when it was never unavailable. */
    backForMs: (): number => (awaySinceMs === null ? clock.monotonicMs() - backSinceMs : 0),
    /** Returns what is wrong with the file, as of the last look; null with a database. */
    problem: (): StoreProblem | null => problem,
  };
}

/** The last look at a file, at what it holds, too. @throws FlatlineError store_unusable while something is wrong with it */
export async function requireStore(store: Pick<Store, "check" | "problem">): Promise<void> {
  const problem = await store.problem();
  if (problem !== null) throw new FlatlineError("store_unusable", problem.message);
  await store.check();
}
