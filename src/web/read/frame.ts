import { minuteMs } from "../../base/time.ts";
import { worstSeverity } from "../../contract/severity.ts";
import type { CheckState, Running } from "./running.ts";

/** What stands around every page. */
export type FrameFacts = Awaited<ReturnType<typeof readFrame>>;

// A late run is one this much after it was due: a busy scheduler is not yet news.
const lateAfterMs = minuteMs;

export async function readFrame(running: Pick<Running, "fleet" | "checks" | "source">) {
  const { open, unfinished, outbox, nowMs } = await running.fleet();
  const states = running.checks.all();
  return {
    /** The worst of the last results. */
    severity: worstSeverity(states.map(({ last }) => last?.severity ?? "unknown")),
    openIncidents: open.length,
    /** Incidents that have ended and wait for somebody to judge them. */
    unfinished: unfinished.incidents.size,
    deadLetters: outbox.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    source: running.source(),
    organizations: new Set(states.map(({ slug }) => slug)).size,
    /** Checks whose run is late. */
    late: states.filter((state) => isLate(state, nowMs)).length,
  };
}

/** Returns whether its run should have begun by now. */
export function isLate({ last, isRunning, nextDueAtMs }: CheckState, nowMs: number): boolean {
  return last !== null && nextDueAtMs + lateAfterMs < nowMs && !isRunning;
}
