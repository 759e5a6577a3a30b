import type { z } from "zod";

import type { Schedule } from "./target.ts";

/** Returns the schedule of a pattern, in the organization's timezone and with its jitter. */
export type ScheduleOf = (pattern: string) => Schedule;

/** A key of an organization, and of `defaults`, in the configuration: the settings of one check. */
export interface CheckSettings {
  readonly key: string;
  /** What the check needs of the source. */
  readonly needs: "hasReports" | "holdsEvents";
  /** The settings as they are written. */
  readonly schema: z.ZodType<object>;
  /** Returns the path below the key by which the written settings switch the check on; null: they do not. */
  switchOf(written: object): readonly string[] | null;
  /** Returns the effective settings of what `defaults` and the organization say, the built-in ones below; null: it does not run. */
  resolve(layers: readonly (object | undefined)[], scheduleOf: ScheduleOf): object | null;
  /** Returns the effective settings as they are written. */
  describe(settings: object): object;
}
