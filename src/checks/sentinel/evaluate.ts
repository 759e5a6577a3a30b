import type { Finding, HealthcheckResult } from "../../contract/healthcheck.ts";
import { isSameType } from "../../contract/assets.ts";
import { deadStatus } from "../../contract/liveness-status.ts";
import type { AssetStatus } from "../../store/events/liveness.ts";

// Findings are sent in notifications: these are enough to begin with, and the first message has their number.
const namedAssets = 10;

/** The kind of the findings that name an asset. */
export const assetFinding = "sentinel.asset";

/** What one look at an organization's sentinels found. */
export interface SentinelInput {
  readonly slug: string;
  readonly nowMs: number;
  /** Contents of assets that are known to be alive, as configured. */
  readonly assets: readonly string[];
  /** The latest event of each asset of such a content. */
  readonly statuses: readonly AssetStatus[];
  readonly appUrl: string | null;
}

/**
 * Returns the verdict over assets that are known to be alive, in the shape of a healthcheck result: one that the liveness checker
 * calls dead is a fail at once, whatever the ratio, because it shows that the checker is wrong. One that the checker never
 * reported counts as alive and in `unseen`: where only changes are reported that is how a living asset looks.
 */
export function evaluateSentinel({ slug, nowMs, assets, statuses, appUrl }: SentinelInput): HealthcheckResult {
  const calledDead = statuses
    .filter((one) => one.status === deadStatus && !statuses.some((other) => isOver(one, other)))
    .toSorted((left, right) => left.atMs - right.atMs || (left.asset < right.asset ? -1 : 1));
  // A content that is dead as a URL and as a page is one sentinel.
  const dead = [...Map.groupBy(calledDead, ({ asset }) => asset).values()].flatMap(([first]) => first ?? []);
  const seen = new Set(statuses.map(({ asset }) => asset));
  const severity = dead.length === 0 ? "ok" : "fail";
  return {
    id: "sentinel",
    title: "Assets that are known to be alive",
    category: "assets",
    generatedAt: new Date(nowMs).toISOString(),
    scope: { slug },
    ok: severity === "ok",
    severity,
    observed: { sentinels: assets.length, dead: dead.length, unseen: assets.length - seen.size },
    threshold: { failAbove: 0 },
    findings: dead.length === 0 ? [] : findingsOf(slug, assets.length, dead),
    suggestedAction:
      severity === "ok"
        ? null
        : "Open the named assets by hand: if they load, the liveness checker is wrong, so trust none of its deaths until it is repaired.",
    appUrl,
  };
}

/** Whether a later event says something else of the same asset. */
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
    message: `${dead.length} of ${sentinels} assets that are known to be alive ${dead.length === 1 ? "is" : "are"} called dead${more}`,
  };
  const named = dead.slice(0, namedAssets).map(({ asset, atMs }): Finding => ({
    kind: assetFinding,
    ref: asset,
    severity: "fail",
    message: `${asset} is known to be alive and was called dead at ${new Date(atMs).toISOString()}`,
  }));
  return [whole, ...named];
}
