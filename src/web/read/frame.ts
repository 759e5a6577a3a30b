import { organizationsOf } from "./organizations.ts";
import type { Running } from "./running.ts";

/** The facts in the frame of every page. */
export type FrameFacts = Awaited<ReturnType<typeof readFrame>>;

export async function readFrame(running: Running) {
  const fleet = await running.fleet();
  const { rows, severity, late } = organizationsOf(running, fleet);
  return {
    severity,
    openIncidents: fleet.open.length,
    /** Ended incidents with a gate on hold or without a judgement. */
    unfinished: fleet.unfinished.incidents.size,
    deadLetters: fleet.outbox.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    source: running.source(),
    organizations: rows.length,
    late,
  };
}
