import { formatCount } from "../../base/numbers.ts";
import type { CheckedOrganization, CheckKind, Evaluated } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import type { EventTarget } from "../target.ts";
import { evaluateSentinel } from "./evaluate.ts";
import { sentinelSettings, type SentinelSettings } from "./settings.ts";

export interface SentinelTarget extends EventTarget {
  readonly check: "sentinel";
  readonly assets: readonly string[];
}

type SentinelOrganization = CheckedOrganization & { readonly sentinel: SentinelSettings };

/** Assets that are known to be alive, and must never be called dead. */
export const sentinel = {
  holdsGate: true,
  isSaidByFinding: true,
  canLookBack: true,
  alertName: "FlatlineSentinel",
  subject: " sentinels",
  back: "no sentinel is called dead any more",
  numberOf: ({ result }) => {
    const dead = result?.observed["dead"];
    return typeof dead === "number" ? `${formatCount(dead)} called dead` : null;
  },
  settings: sentinelSettings,
  targetOf: ({ slug, whenNoEvents, sentinel: { assets, schedule } }: SentinelOrganization): SentinelTarget | null =>
    assets.length === 0
      ? null
      : { check: "sentinel", slug, schedule, assets, ...(whenNoEvents === null ? {} : { whenNoEvents }) },
  run: async (target: SentinelTarget, run): Promise<Evaluated> => {
    const { slug, assets } = target;
    const { nowMs, appUrl } = run;
    await readFirstEvent(target, run);
    const statuses = await requireEvents(run, target.check).lastStatuses(slug, assets, nowMs);
    return { result: evaluateSentinel({ slug, nowMs, assets, statuses, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;
