import { minuteMs } from "../../base/time.ts";
import { worstSeverity } from "../../contract/severity.ts";
import type { CheckState, Running } from "./running.ts";

/** The facts in the frame of every page. */
export type FrameFacts = Awaited<ReturnType<typeof readFrame>>;

// A run that is this late is news; a busy scheduler may be a little late.
const lateAfterMs = minuteMs;

export async function readFrame(running: Pick<Running, "fleet" | "checks" | "source" | "clock">) {
  const { open, unfinished, outbox } = await running.fleet();
  const nowMs = running.clock.nowMs();
  const states = running.checks.all();
  return {
    severity: worstSeverity(states.map(({ last }) => last?.severity ?? "unknown")),
    openIncidents: open.length,
    /** Ended incidents with a gate on hold or without a judgement. */
    unfinished: unfinished.incidents.size,
    deadLetters: outbox.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    source: running.source(),
    organizations: new Set(states.map(({ slug }) => slug)).size,
    late: states.filter((state) => isLate(state, nowMs)).length,
  };
}

/** Returns whether a check's run should have begun by now. */
export function isLate({ last, isRunning, nextDueAtMs }: CheckState, nowMs: number): boolean {
  return last !== null && nextDueAtMs + lateAfterMs < nowMs && !isRunning;
}
