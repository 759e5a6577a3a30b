import { z } from "zod";

import { builtIn } from "../../base/schema/section.ts";
import { cronPattern, nameText } from "../../base/schema/values.ts";
import { dayMs } from "../../base/time.ts";
import { AssetBook, isSameType } from "../../contract/assets.ts";
import type { Finding, HealthcheckResult } from "../../contract/healthcheck.ts";
import type { AssetStatus } from "../../store/events/liveness.ts";
import { deadStatus } from "../../contract/liveness-status.ts";
import {
  resultOf,
  type CheckKind,
  type CheckSettings,
  type Evaluation,
  type SettingsTarget,
  type StoredEvents,
  readFirstEvent,
  requireEvents,
} from "../kind.ts";

const sentinelSettings = {
  key: "sentinel",
  needs: "holdsEvents",
  switchedBy: "assets",
  description: "The check `sentinel`: one of these assets called dead is a fail at once. Stored events only.",
  shape: {
    assets: builtIn(z.array(nameText()).max(1_000), []).describe("Assets known to be alive, as events name them."),
    schedule: builtIn(cronPattern, "*/5 * * * *").describe("Its cron pattern, in the organization's timezone."),
  },
} as const satisfies CheckSettings;

export type SentinelTarget = SettingsTarget<"sentinel", typeof sentinelSettings>;

const assetFinding = "sentinel.asset";

/** Assets that are known to be alive: none may be called dead. */
export const sentinel = {
  holdsGate: true,
  isSaidByFinding: true,
  isClosedFinding: ({ kind }) => kind === assetFinding,
  canLookBack: true,
  alertName: "FlatlineSentinel",
  back: "no sentinel is called dead any more",
  settings: sentinelSettings,
  run: async (target: SentinelTarget, run) => {
    const { slug, settings } = target;
    const { nowMs, appUrl } = run;
    const { assets } = settings;
    await readFirstEvent(target, run);
    const statuses = await lastStatuses(slug, assets, nowMs, requireEvents(run, target.check));
    return { result: evaluateSentinel({ slug, nowMs, assets, statuses, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;

// Older events are not read.
const lookbackMs = 90 * dayMs;
// Events are read from now backwards until each asset is found; each stretch is twice as long as the one before.
const firstStretchMs = 8 * dayMs;

/** Returns the latest event of each asset of any type with one of these contents. */
async function lastStatuses(
  slug: string,
  assets: readonly string[],
  nowMs: number,
  { liveness }: StoredEvents,
): Promise<readonly AssetStatus[]> {
  const found = new AssetBook<AssetStatus>();
  const startMs = nowMs - lookbackMs;
  // Another asset type with the same content may have died in an earlier stretch.
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

// Bounds notifications; the first message has the number of all.
const namedAssets = 10;

interface SentinelInput extends Evaluation {
  /** Contents of assets that are known to be alive, as configured. */
  readonly assets: readonly string[];
  /** The latest event of each asset with such a content. */
  readonly statuses: readonly AssetStatus[];
}

/**
 * Returns the verdict over assets that are known to be alive. One that the checker calls dead is a fail at once: the
 * checker is wrong. One that it never reported counts as alive and in `unseen`: some checkers report changes only.
 */
export function evaluateSentinel(sentinels: SentinelInput): HealthcheckResult {
  const { assets, statuses } = sentinels;
  const calledDead = statuses
    .filter((one) => one.status === deadStatus && !statuses.some((other) => isOver(one, other)))
    .toSorted((left, right) => left.atMs - right.atMs || (left.asset < right.asset ? -1 : 1));
  // The same content with two asset types is one sentinel.
  const dead = [...Map.groupBy(calledDead, ({ asset }) => asset).values()].flatMap(([first]) => first ?? []);
  const seen = new Set(statuses.map(({ asset }) => asset));
  return resultOf(sentinels, {
    id: "sentinel",
    title: "Assets that are known to be alive",
    category: "assets",
    severity: dead.length === 0 ? "ok" : "fail",
    observed: { sentinels: assets.length, dead: dead.length, unseen: assets.length - seen.size },
    threshold: { failAbove: 0 },
    findings: dead.length === 0 ? [] : findingsOf(sentinels.slug, assets.length, dead),
    advice:
      "Open the named assets by hand: if they load, the liveness checker is wrong, " +
      "so trust none of its deaths until it is repaired.",
  });
}

/** Whether a later event gives the same asset another status. */
function isOver({ asset, typeId, atMs }: AssetStatus, later: AssetStatus): boolean {
  const isOther = later.status !== deadStatus && later.atMs > atMs;
  return isOther && later.asset === asset && isSameType(later.typeId, typeId);
}

function findingsOf(slug: string, sentinels: number, dead: readonly AssetStatus[]): Finding[] {
  const more = dead.length > namedAssets ? `, ${namedAssets} of them named here` : "";
  const whole: Finding = {
    kind: "sentinel",
    ref: slug,
    severity: "fail",
    message:
      `${dead.length} of ${sentinels} assets that are known to be alive ` +
      `${dead.length === 1 ? "is" : "are"} called dead${more}`,
  };
  const named = dead.slice(0, namedAssets).map(({ asset, atMs }): Finding => ({
    kind: assetFinding,
    ref: asset,
    severity: "fail",
    message: `${asset} is known to be alive and was called dead at ${new Date(atMs).toISOString()}`,
  }));
  return [whole, ...named];
}
