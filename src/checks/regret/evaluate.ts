import { formatDuration } from "../../base/durations.ts";
import { formatPercent } from "../../base/numbers.ts";
import { secondMs } from "../../base/time.ts";
import type { Finding, HealthcheckResult } from "../../contract/healthcheck.ts";
import type { ResultSeverity } from "../../contract/severity.ts";
import type { RegretLimits } from "./regret.ts";
import { longWindows, type RegretShares } from "./shares.ts";

/** What one look at an organization's deaths found. */
export interface RegretInput {
  readonly slug: string;
  readonly nowMs: number;
  readonly limits: RegretLimits;
  readonly shares: RegretShares;
  readonly appUrl: string | null;
}

/**
 * Returns the verdict over deaths that were followed by a revival, in the shape of a healthcheck result (CONTRACT 12): a checker that breaks slowly
 * moves every baseline with it, but not the assets that it finds alive. The smaller of the shares of one window and of
 * seven decides, so that neither one bad hour nor an incident that is over keeps it up.
 */
export function evaluateRegret({ slug, nowMs, limits, shares, appUrl }: RegretInput): HealthcheckResult {
  const { maturityMs, deaths, revived, share, longDeaths, longRevived, longShare } = shares;
  const decisive =
    share === null || longShare === null || longDeaths < limits.minDeaths ? 0 : Math.min(share, longShare);
  const severity: ResultSeverity = decisive > limits.failAbove ? "fail" : decisive > limits.warnAbove ? "warn" : "ok";
  return {
    id: "regret",
    title: "Dead assets that were found alive",
    category: "assets",
    generatedAt: new Date(nowMs).toISOString(),
    scope: { slug },
    ok: severity === "ok",
    severity,
    observed: { deaths, revived, share, longDeaths, longRevived, longShare, maturitySeconds: maturityMs / secondMs },
    threshold: {
      warnAbove: limits.warnAbove,
      failAbove: limits.failAbove,
      minDeaths: limits.minDeaths,
      windowSeconds: limits.windowMs / secondMs,
    },
    findings: severity === "ok" ? [] : [findingOf(slug, severity, nowMs, limits, shares)],
    suggestedAction:
      severity === "ok"
        ? null
        : "Look at what the liveness checker reported about the assets that were found alive: while it is wrong about so many, hold every takedown that its deaths close.",
    appUrl,
  };
}

function findingOf(
  slug: string,
  severity: ResultSeverity,
  nowMs: number,
  { windowMs }: RegretLimits,
  { maturityMs, deaths, revived, longDeaths, longRevived, longShare }: RegretShares,
): Finding {
  const until = new Date(nowMs - maturityMs).toISOString();
  const message =
    `${longRevived} of ${longDeaths} deaths (${formatPercent(longShare ?? 0)}) of the ${formatDuration(longWindows * windowMs)} before ${until} ` +
    `were found alive since, and ${revived} of ${deaths} of the last ${formatDuration(windowMs)} of them`;
  return { kind: "regret", ref: slug, severity, message };
}
