import type { SpikeRequest } from "../contract/platform-api.ts";

/** When an organization's check runs (CONTRACT 4: schedule, timezone, jitter). */
export interface Schedule {
  readonly pattern: string;
  readonly timezone: string;
  /** Start times are spread over [0, jitterMs), the same for one slug at each tick. */
  readonly jitterMs: number;
}

/** What an organization says of the schedules of its checks. */
export interface Scheduled {
  /** Cron pattern. */
  readonly schedule: string;
  readonly timezone: string;
  readonly jitterMs: number;
}

/** Returns the schedule of a cron pattern [the organization's]. */
export function scheduleOf({ schedule, timezone, jitterMs }: Scheduled, pattern: string | null = null): Schedule {
  return { pattern: (pattern ?? schedule).trim(), timezone, jitterMs };
}

/** The five thresholds as the healthcheck's request carries them. */
export type SpikeThresholds = Omit<SpikeRequest, "slug">;

/** One check of one organization, with what every check has. */
export interface AnyTarget {
  readonly slug: string;
  readonly schedule: Schedule;
}

/** A check over liveness events that are stored here. */
export interface EventTarget extends AnyTarget {
  /** The result of a run for an organization that never had an event; absent: this is not asked. */
  readonly whenNoEvents?: WhenNoEvents | null;
}

/** What an organization without any stored event means: nothing is known, or a stream of deaths only had none (CONTRACT 11). */
export type WhenNoEvents = "unknown" | "ok";
