import { z } from "zod";

import { layered } from "../../base/layers.ts";
import { cronPattern, nameText, strictObject } from "../../base/schema/values.ts";
import type { CheckSettings, ScheduleOf } from "../settings.ts";
import type { Schedule } from "../target.ts";

export interface SentinelSettings {
  /** Known to be alive; none: the check does not run. */
  readonly assets: readonly string[];
  readonly schedule: Schedule;
}

const builtin = { assets: [] as readonly string[], schedule: "*/5 * * * *" };

const schema = strictObject({
  assets: z
    .array(nameText())
    .max(1_000)
    .optional()
    .describe(
      "Assets that are known to be alive, as the liveness events name them, of whatever type; the check runs where there are any.",
    )
    .meta({ default: builtin.assets }),
  schedule: cronPattern()
    .optional()
    .describe("The check's cron pattern, in the organization's timezone.")
    .meta({ default: builtin.schedule }),
}).describe("The check `sentinel`: one of these assets called dead is a fail at once. Stored events only.");

/** `sentinel` in the configuration. */
export const sentinelSettings = {
  key: "sentinel",
  needs: "holdsEvents",
  schema,
  switchOf: ({ assets }: { readonly assets?: unknown }) =>
    Array.isArray(assets) && assets.length > 0 ? ["assets"] : null,
  resolve: (layers: readonly (z.output<typeof schema> | undefined)[], scheduleOf: ScheduleOf): SentinelSettings => {
    const { assets, schedule } = layered(builtin, ...layers);
    return { assets, schedule: scheduleOf(schedule) };
  },
  describe: ({ assets, schedule }: SentinelSettings) => ({ assets, schedule: schedule.pattern }),
} as const satisfies CheckSettings;
