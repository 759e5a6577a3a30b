import type { Schedule } from "../checks/target.ts";
import { nextDueAtMs } from "../monitor/schedule.ts";

/** Returns the next `count` runs of a schedule after `fromMs`, epoch ms, with the scheduler's own calculation. */
export function nextRuns(schedule: Schedule, slug: string, fromMs: number, count: number): number[] {
  const times: number[] = [];
  for (let atMs = fromMs; times.length < count;) {
    atMs = nextDueAtMs(schedule, slug, atMs);
    times.push(atMs);
  }
  return times;
}
