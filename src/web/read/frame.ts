import { minuteMs } from "../../base/time.ts";
import { worstSeverity, type Severity } from "../../contract/severity.ts";
import type { CheckState } from "./running.ts";
import type { Running } from "./running.ts";

/** What stands around every page. */
export interface FrameFacts {
  /** The worst of the last results. */
  readonly severity: Severity;
  readonly openIncidents: number;
  /** Incidents that have ended and wait for somebody to judge them. */
  readonly unfinished: number;
  readonly deadLetters: number;
  readonly source: string;
  readonly organizations: number;
  /** Checks whose run is late. */
  readonly late: number;
  /** The interval that more than half of the checks have; null: none is that common. */
  readonly everyMs: number | null;
}

// A late run is one this much after it was due: a busy scheduler is not yet news.
const lateAfterMs = minuteMs;

export async function readFrame(running: Running): Promise<FrameFacts> {
  const { open, unfinished, outbox, nowMs } = await running.fleet();
  const states = running.checks.all();
  return {
    severity: worstSeverity(states.map(({ severity }) => severity ?? "unknown")),
    openIncidents: open.length,
    unfinished: unfinished.incidents.size,
    deadLetters: outbox.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    source: running.source(),
    organizations: new Set(states.map(({ slug }) => slug)).size,
    late: states.filter((state) => isLate(state, nowMs)).length,
    everyMs: commonInterval(states),
  };
}

/** Returns whether its run should have begun by now. */
export function isLate({ lastRunAtMs, isRunning, nextDueAtMs }: CheckState, nowMs: number): boolean {
  return lastRunAtMs !== null && nextDueAtMs + lateAfterMs < nowMs && !isRunning;
}

function commonInterval(states: readonly CheckState[]): number | null {
  const counts = new Map<number, number>();
  for (const { intervalMs } of states) {
    if (intervalMs === null) continue;
    const count = (counts.get(intervalMs) ?? 0) + 1;
    if (count > states.length / 2) return intervalMs;
    counts.set(intervalMs, count);
  }
  return null;
}
