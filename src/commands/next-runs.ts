import { nextDueAtMs, type Schedule } from "../monitor/schedule.ts";

/** The `count` runs of a schedule after `fromMs`, epoch ms, by the calculator that the scheduler uses. */
export function nextRuns(schedule: Schedule, slug: string, fromMs: number, count: number): number[] {
  const times: number[] = [];
  for (let atMs = fromMs; times.length < count;) {
    atMs = nextDueAtMs(schedule, slug, atMs);
    times.push(atMs);
  }
  return times;
}
