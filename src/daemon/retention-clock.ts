import type { Logger } from "../base/logger.ts";
import { dayMs, hourMs, type Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";

// More than a clock is ever corrected by.
const jumpMs = hourMs;
// A machine that slept jumps, too: nobody has to restart flatline after it.
const distrustMs = dayMs;
const metaKey = "deleted_until_ms";

/**
 * Creates the clock that decides what is old enough to be deleted: the machine's, but at most a day ahead of where it was when
 * something was deleted last, and from there at most twice as fast as time passes. A clock that is years ahead costs no more
 * than what one more day makes old; after months without flatline it takes months to catch up. Returns null after a jump.
 */
export function createRetentionClock(
  store: Pick<Store, "meta">,
  clock: Clock,
  logger: Logger,
): () => Promise<number | null> {
  const startedAtMs = clock.monotonicMs();
  const offset = (): number => clock.nowMs() - clock.monotonicMs();
  let offsetMs = offset();
  let jumpedAtMs = -Infinity;
  let fromMs: number | null = null;

  return async () => {
    const byMs = offset() - offsetMs;
    offsetMs += byMs;
    if (Math.abs(byMs) > jumpMs) {
      jumpedAtMs = clock.monotonicMs();
      logger.warn({ byMs }, "clock has jumped: nothing is deleted for a day");
    }
    if (clock.monotonicMs() - jumpedAtMs < distrustMs) return null;
    const nowMs = clock.nowMs();
    fromMs ??= Number(await store.meta.getOrSet(metaKey, String(nowMs)));
    const untilMs = Math.min(nowMs, fromMs + dayMs + 2 * (clock.monotonicMs() - startedAtMs));
    await store.meta.set(metaKey, String(untilMs));
    return untilMs;
  };
}
