import { createLoop, type Loop } from "../../base/loop.ts";
import type { Logger } from "../../base/logger.ts";
import { dayMs, hourMs, secondMs, type Clock } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";
import { readRegret } from "./regret-reading.ts";

export interface RegretBookOptions {
  readonly store: Pick<Store, "evidence">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the slugs of the current configuration, at each round. */
  readonly slugs: () => readonly string[];
  /** Called with each new ratio (0–1); null: nothing to judge, or no longer configured. */
  readonly onRatio: (slug: string, ratio: number | null) => void;
}

// The last thirty days: long enough that assets are looked at again, short enough to show what a new checker does.
const judgedMs = 30 * dayMs;
const firstAfterMs = 5 * secondMs;
const lookEveryMs = 30 * secondMs;
// A share of thirty days moves slowly, and all of their events are read.
const sameSlugEveryMs = hourMs;
// No caller waits for it: it takes a tenth of one core at most, in pieces of one page.
const restShare = 9;
const shortestRestMs = 1;

/**
 * Creates the loop that counts the share of false deaths of each organization, each hour.
 */
export function createRegretBook({ store, clock, logger, slugs, onRatio }: RegretBookOptions): Loop {
  const loop = createLoop({ clock, everyMs: lookEveryMs, firstAfterMs, runOnce, onError: note });
  const { signal } = loop;
  const judgedAtMs = new Map<string, number>();

  async function judge(slug: string): Promise<void> {
    let workedFromMs = clock.monotonicMs();
    const rest = async (): Promise<void> => {
      const workedMs = clock.monotonicMs() - workedFromMs;
      await clock.sleep(Math.max(restShare * workedMs, shortestRestMs), signal);
      workedFromMs = clock.monotonicMs();
    };
    const nowMs = clock.nowMs();
    const deaths = { afterMs: nowMs - judgedMs, untilMs: nowMs };
    const regret = await readRegret(store.evidence, { slug, deaths, untilMs: nowMs }, signal, rest);
    const isKnown = regret !== null && regret.judgedCount > 0;
    onRatio(slug, isKnown ? regret.revivedCount / regret.judgedCount : null);
  }

  async function runOnce(): Promise<void> {
    const wanted = new Set(slugs());
    for (const slug of [...judgedAtMs.keys()].filter((known) => !wanted.has(known))) {
      judgedAtMs.delete(slug);
      onRatio(slug, null);
    }
    for (const slug of wanted) {
      if (signal.aborted) return;
      const atMs = clock.nowMs();
      if (atMs - (judgedAtMs.get(slug) ?? -Infinity) < sameSlugEveryMs) continue;
      await judge(slug);
      judgedAtMs.set(slug, atMs);
    }
  }

  function note(error: unknown): void {
    if (!signal.aborted) logger.warn({ err: error }, "false deaths could not be counted, trying again later");
  }

  return loop;
}
