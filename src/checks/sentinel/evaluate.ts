import type { Finding, HealthcheckResult } from "../../contract/healthcheck.ts";
import { deadStatus } from "../../contract/liveness-status.ts";
import type { AssetStatus } from "../../store/events/liveness.ts";

// Findings travel in notifications: enough to begin with, the first message says how many there are.
const namedAssets = 10;

/** What one look at an organization's sentinels found. */
export interface SentinelInput {
  readonly slug: string;
  readonly nowMs: number;
  /** Assets that are known to be alive, as configured. */
  readonly assets: readonly string[];
  /** The latest event of each that has one. */
  readonly statuses: readonly AssetStatus[];
  readonly appUrl: string | null;
}

/**
 * Returns the verdict over assets that are known to be alive, in the shape of a healthcheck result: one that the liveness checker
 * calls dead is a fail at once, whatever the ratio, because it shows that the checker is wrong. One that the checker never
 * reported counts as alive and in `unseen`: where only changes are reported that is how a living asset looks.
 */
export function evaluateSentinel({ slug, nowMs, assets, statuses, appUrl }: SentinelInput): HealthcheckResult {
  const dead = statuses
    .filter(({ status }) => status === deadStatus)
    .toSorted((left, right) => left.atMs - right.atMs || (left.asset < right.asset ? -1 : 1));
  const severity = dead.length === 0 ? "ok" : "fail";
  return {
    id: "sentinel",
    title: "Assets that are known to be alive",
    category: "assets",
    generatedAt: new Date(nowMs).toISOString(),
    scope: { slug },
    ok: severity === "ok",
    severity,
    observed: { sentinels: assets.length, dead: dead.length, unseen: assets.length - statuses.length },
    threshold: { failAbove: 0 },
    findings: dead.length === 0 ? [] : findingsOf(slug, assets.length, dead),
    suggestedAction:
      severity === "ok"
        ? null
        : "Open the named assets by hand: if they load, the liveness checker is wrong, so trust none of its deaths until it is repaired.",
    appUrl,
  };
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
    kind: "sentinel.asset",
    ref: asset,
    severity: "fail",
    message: `${asset} is known to be alive and was called dead at ${new Date(atMs).toISOString()}`,
  }));
  return [whole, ...named];
}
