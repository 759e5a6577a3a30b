import { z } from "zod";

import { builtIn, type Whole } from "../../base/schema/section.ts";
import { cronPattern, nameText } from "../../base/schema/values.ts";
import { dayMs } from "../../base/time.ts";
import { AssetBook } from "../../contract/assets.ts";
import type { AssetStatus } from "../../store/events/liveness.ts";
import type { CheckedOrganization, CheckKind, CheckSettings, Evaluated, StoredEvents } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import { scheduleOf, type EventTarget } from "../target.ts";
import { assetFinding, evaluateSentinel } from "./evaluate.ts";

/** `sentinel` in the configuration. */
const sentinelSettings = {
  key: "sentinel",
  needs: "holdsEvents",
  switchedBy: "assets",
  description: "The check `sentinel`: one of these assets called dead is a fail at once. Stored events only.",
  shape: {
    assets: builtIn(z.array(nameText()).max(1_000), []).describe(
      "Assets that are known to be alive, as the liveness events name them; the check runs where there are any.",
    ),
    schedule: builtIn(cronPattern(), "*/5 * * * *").describe(
      "The check's cron pattern, in the organization's timezone.",
    ),
  },
} as const satisfies CheckSettings;

export interface SentinelTarget extends EventTarget {
  readonly check: "sentinel";
  readonly assets: readonly string[];
}

type SentinelOrganization = CheckedOrganization & { readonly sentinel: Whole<typeof sentinelSettings.shape> };

/** Assets that are known to be alive, and must never be called dead. */
export const sentinel = {
  holdsGate: true,
  isSaidByFinding: true,
  isClosedFinding: ({ kind }) => kind === assetFinding,
  canLookBack: true,
  alertName: "FlatlineSentinel",
  back: "no sentinel is called dead any more",
  settings: sentinelSettings,
  targetsOf: ({ sentinel: { assets, schedule }, ...organization }: SentinelOrganization): SentinelTarget[] => {
    const { slug, whenNoEvents } = organization;
    if (assets.length === 0) return [];
    return [{ check: "sentinel", slug, schedule: scheduleOf(organization, schedule), assets, whenNoEvents }];
  },
  run: async (target: SentinelTarget, run): Promise<Evaluated> => {
    const { slug, assets } = target;
    const { nowMs, appUrl } = run;
    await readFirstEvent(target, run);
    const statuses = await lastStatuses(slug, assets, nowMs, requireEvents(run, target.check));
    return { result: evaluateSentinel({ slug, nowMs, assets, statuses, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;

// A name that an asset had longer ago than this is history: the asset would have been seen since.
const lookbackMs = 90 * dayMs;
// The stretches that are read from now backwards, until each asset is found; doubled each time.
const firstStretchMs = 8 * dayMs;

/** Returns the latest event of each asset that has one of these contents, of whatever type. */
async function lastStatuses(
  slug: string,
  assets: readonly string[],
  nowMs: number,
  { liveness }: StoredEvents,
): Promise<readonly AssetStatus[]> {
  const found = new AssetBook<AssetStatus>();
  const startMs = nowMs - lookbackMs;
  // An asset of another type with that content may have died before the stretch in which this one was seen.
  const types = await liveness.deadTypes(slug, { afterMs: startMs, untilMs: nowMs });
  const seen = new Set<string>();
  const isFound = (asset: string): boolean =>
    seen.has(asset) && types.every((typeId) => found.get({ typeId, asset }) !== undefined);
  let stretchMs = firstStretchMs;
  for (let untilMs = nowMs; untilMs > startMs; stretchMs *= 2) {
    const missing = assets.filter((asset) => !isFound(asset));
    if (missing.length === 0) break;
    const afterMs = Math.max(startMs, untilMs - stretchMs);
    for (const status of await liveness.lastStatuses({ slug, assets: missing, interval: { afterMs, untilMs } })) {
      seen.add(status.asset);
      if (found.get(status) === undefined) found.set(status, status);
    }
    untilMs = afterMs;
  }
  return found.values();
}
