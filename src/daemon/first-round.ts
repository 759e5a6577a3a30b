import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { Severity } from "../contract/severity.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckState } from "../web/read/running.ts";

/** Says once, when every check that was due at the start has run, how all of them are. */
export interface FirstRound {
  /** The checks as they are stored at the start; later calls say nothing new. */
  begin(states: readonly CheckState[]): void;
  /** A check ran. */
  note(state: Pick<CheckState, "check" | "slug" | "severity">): void;
  isOver(): boolean;
}

/** Creates a round that begins now. */
export function createFirstRound({ logger, clock }: { readonly logger: Logger; readonly clock: Clock }): FirstRound {
  const beganMs = clock.monotonicMs();
  let severities: Map<string, Severity | null> | null = new Map();
  let waiting: Set<string> | null = null;

  function sayWhenOver(): void {
    if (severities === null || waiting === null || waiting.size > 0) return;
    const counts = { ok: 0, warn: 0, fail: 0, unknown: 0 };
    for (const severity of severities.values()) counts[severity ?? "unknown"]++;
    const tookMs = Math.round(clock.monotonicMs() - beganMs);
    const hasRun = severities.size > 0;
    severities = null;
    // It is logged in the next turn, after the runs of the same commit.
    if (hasRun) void clock.sleep(0).then(() => logger.info({ ...counts, tookMs }, "every check has run"));
  }

  return {
    begin: (states) => {
      if (severities === null || waiting !== null) return;
      const nowMs = clock.nowMs();
      // A run that ended while they were read is noted already, and newer.
      const isDue = (state: CheckState): boolean => state.lastRunAtMs === null || state.nextDueAtMs <= nowMs;
      const due = states.filter((state) => isDue(state) && severities?.has(checkKey(state)) !== true);
      for (const state of states) if (!severities.has(checkKey(state))) severities.set(checkKey(state), state.severity);
      waiting = new Set(due.map(checkKey));
      sayWhenOver();
    },
    note: (state) => {
      severities?.set(checkKey(state), state.severity);
      waiting?.delete(checkKey(state));
      sayWhenOver();
    },
    isOver: () => severities === null,
  };
}
