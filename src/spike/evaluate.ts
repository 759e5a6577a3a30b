import { checkAssetTypes, excessByAssetType, type AssetTypeCounts, type AssetTypeExcess } from "./asset-types.ts";
import { expectation } from "./expectation.ts";
import { maxAssetTypes, spikeFindings, type CountKind, type SpikeFinding } from "./findings.ts";
import { knownDays, type BaselineKind, type DayCounts } from "./median.ts";
import { SpikeInputError } from "./spike-input-error.ts";
import { completeThresholds, type PartialThresholds, type SpikeThresholds } from "./thresholds.ts";
import { checkCount, spikeSeverity, type SpikeSeverity } from "./verdict.ts";
import { checkInstant } from "./window.ts";

/** Everything that one evaluation depends on. */
export interface SpikeInput {
  /** The organization, at least one character. */
  readonly slug: string;
  /** End of the window, integer epoch ms. */
  readonly nowMs: number;
  /** Absent ones are the API's defaults. */
  readonly thresholds?: PartialThresholds;
  /** The rule of the expected deaths [mean, the API's rule]. */
  readonly baseline?: BaselineKind;
  /** What all counts are of [deaths]; `assets` needs a median. */
  readonly count?: CountKind;
  /** Deaths in the window. */
  readonly currentCount: number;
  /** Deaths in the baseline. */
  readonly baselineCount: number;
  /** Deaths in each of medianDays, in its order; a median needs them, a mean leaves them aside. */
  readonly dayCounts?: DayCounts;
  /** The organization's first stored event, epoch ms: days that begin before it leave the median [null, none does]. */
  readonly firstEventAtMs?: number | null;
  /** The same per asset type, where types are known; only the findings use it. */
  readonly assetTypes?: readonly AssetTypeCounts[];
  /** Template of the link to the organization, with `{slug}`. */
  readonly appUrl?: string | null;
}

/** The API's healthcheck result for a dead asset spike, all twelve fields (CONTRACT 2). */
export type SpikeResult = {
  readonly id: "dead-asset-spike";
  readonly title: "Spike in recently dead assets";
  readonly category: "assets";
  /** ISO 8601, milliseconds, Z. */
  readonly generatedAt: string;
  readonly scope: { readonly slug: string };
  readonly ok: boolean;
  readonly severity: SpikeSeverity;
  readonly observed: {
    readonly currentCount: number;
    readonly baselineCount: number;
    readonly expectedCount: number;
    /** null when nothing is expected. */
    readonly ratio: number | null;
    /** Where assets are counted, not deaths. */
    readonly counting?: "assets";
    /** With a median: how many days are in it. */
    readonly baselineDaysKnown?: number;
    /**
     * With a median: deaths of the same window one day before (`day1`), two days before (`day2`) and so on, for the
     * days in it.
     */
    readonly [day: `day${number}`]: number;
  };
  readonly threshold: Readonly<Record<keyof SpikeThresholds, number>> & {
    readonly warnAbove: number;
    readonly failAbove: number;
  };
  readonly findings: SpikeFinding[];
  readonly suggestedAction: string | null;
  readonly appUrl: string | null;
};

const suggestedAction =
  "Open a sample of the newly dead assets by hand: if they still load, the liveness checker is wrong, so hold every " +
  "takedown that it closed and repair it before its deaths are counted.";

/** A result, and the numbers of its findings, which have text only. */
export interface SpikeEvaluation {
  readonly result: SpikeResult;
  /** The asset types that the findings name, largest excess first. */
  readonly assetTypes: readonly AssetTypeExcess[];
}

/**
 * Returns whether an organization's assets die at an unusual rate, and why (CONTRACT 2). Pure and exact: no rounding decides.
 * @throws SpikeInputError for an empty slug, an instant, count or threshold that is out of range
 */
export function evaluateSpike(input: SpikeInput): SpikeResult {
  return evaluateWithTypes(input).result;
}

/** The same with the numbers of the findings. @throws SpikeInputError as {@link evaluateSpike} */
export function evaluateWithTypes(input: SpikeInput): SpikeEvaluation {
  const { slug, nowMs, currentCount, baselineCount } = input;
  if (slug === "") throw new SpikeInputError("slug", "slug must have at least one character");
  checkInstant("nowMs", nowMs);
  checkCount("currentCount", currentCount);
  checkCount("baselineCount", baselineCount);
  const thresholds = completeThresholds(input.thresholds);

  const { baseline = "mean", firstEventAtMs = null, count = "deaths" } = input;
  if (count === "assets" && baseline !== "median")
    throw new SpikeInputError("count", "count must be deaths where the baseline is a mean: assets need a median");
  const known = (days: DayCounts): DayCounts => knownDays(days, nowMs, thresholds, firstEventAtMs);
  const dayCounts = baseline === "median" ? known(input.dayCounts ?? []) : [];
  const { exact, expectedCount } = expectation({ baseline, thresholds, baselineCount, dayCounts });
  const severity = spikeSeverity(currentCount, exact, thresholds);
  const ratio = expectedCount === 0 ? null : currentCount / expectedCount;
  const counted = { currentCount, baselineCount, expectedCount, ratio };
  const isOk = severity === "ok";
  const { assetTypes: counts = [] } = input;
  checkAssetTypes(counts);
  const withKnownDays = (one: AssetTypeCounts): AssetTypeCounts =>
    one.dayCounts === undefined ? one : { ...one, dayCounts: known(one.dayCounts) };
  // Only findings name them; the days of a median are looked at there.
  const types = isOk && baseline === "mean" ? [] : excessByAssetType(counts.map(withKnownDays), thresholds, baseline);
  const assetTypes = isOk ? [] : types.slice(0, maxAssetTypes);
  const { windowHours } = thresholds;

  const result: SpikeResult = {
    id: "dead-asset-spike",
    title: "Spike in recently dead assets",
    category: "assets",
    generatedAt: new Date(nowMs).toISOString(),
    scope: { slug },
    ok: isOk,
    severity,
    observed: {
      ...counted,
      ...(count === "assets" ? { counting: count } : {}),
      ...(baseline === "mean" ? {} : dayKeys(dayCounts)),
    },
    threshold: {
      ...thresholds,
      warnAbove: finiteProduct(expectedCount, thresholds.warnMultiplier),
      failAbove: finiteProduct(expectedCount, thresholds.failMultiplier),
    },
    findings: isOk ? [] : spikeFindings({ slug, severity, windowHours, ...counted, dayCounts, count, assetTypes }),
    suggestedAction: isOk ? null : suggestedAction,
    appUrl: organizationUrl(input.appUrl ?? null, slug),
  };
  return { result, assetTypes };
}

/** Returns the link to an organization from a template with `{slug}`; null without a template. */
export function organizationUrl(template: string | null, slug: string): string | null {
  // A slug can hold anything, lone surrogates too, which encodeURIComponent refuses.
  return template === null ? null : template.replaceAll("{slug}", () => encodeURIComponent(slug.toWellFormed()));
}

function dayKeys(dayCounts: DayCounts): Partial<SpikeResult["observed"]> {
  const days = dayCounts.flatMap((count, index) => (count === null ? [] : [[`day${index + 1}`, count] as const]));
  return { baselineDaysKnown: days.length, ...Object.fromEntries(days) };
}

/** JSON has no infinity: a multiplier of 1e308 is above everything anyway. */
function finiteProduct(expectedCount: number, multiplier: number): number {
  return Math.min(expectedCount * multiplier, Number.MAX_VALUE);
}
