import { z } from "zod";

import type { CheckedOrganization, CheckKind, Evaluated } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import type { EventTarget, Schedule } from "../target.ts";
import { assetFinding, evaluateSentinel } from "./evaluate.ts";
import { layered } from "../../base/layers.ts";
import { cronPattern, nameText, strictObject } from "../../base/schema/values.ts";
import type { CheckSettings, ScheduleOf } from "../settings.ts";

interface SentinelSettings {
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
      "Assets that are known to be alive, as the liveness events name them; the check runs where there are any.",
    )
    .meta({ default: builtin.assets }),
  schedule: cronPattern()
    .optional()
    .describe("The check's cron pattern, in the organization's timezone.")
    .meta({ default: builtin.schedule }),
}).describe("The check `sentinel`: one of these assets called dead is a fail at once. Stored events only.");

/** `sentinel` in the configuration. */
const sentinelSettings = {
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

export interface SentinelTarget extends EventTarget {
  readonly check: "sentinel";
  readonly assets: readonly string[];
}

type SentinelOrganization = CheckedOrganization & { readonly sentinel: SentinelSettings };

/** Assets that are known to be alive, and must never be called dead. */
export const sentinel = {
  holdsGate: true,
  isSaidByFinding: true,
  isClosedFinding: ({ kind }) => kind === assetFinding,
  canLookBack: true,
  alertName: "FlatlineSentinel",
  back: "no sentinel is called dead any more",
  settings: sentinelSettings,
  targetsOf: ({ slug, whenNoEvents, sentinel: { assets, schedule } }: SentinelOrganization): SentinelTarget[] =>
    assets.length === 0
      ? []
      : [{ check: "sentinel", slug, schedule, assets, ...(whenNoEvents === null ? {} : { whenNoEvents }) }],
  run: async (target: SentinelTarget, run): Promise<Evaluated> => {
    const { slug, assets } = target;
    const { nowMs, appUrl } = run;
    await readFirstEvent(target, run);
    const statuses = await requireEvents(run, target.check).lastStatuses(slug, assets, nowMs);
    return { result: evaluateSentinel({ slug, nowMs, assets, statuses, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;
