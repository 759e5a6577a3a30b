import { checkAssetTypes, excessByAssetType, type AssetTypeCounts, type AssetTypeExcess } from "./asset-types.ts";
import { expectation } from "./expectation.ts";
import { maxAssetTypes, spikeFindings, type CountKind, type SpikeFinding } from "./findings.ts";
import { knownDays, type BaselineKind, type DayCounts } from "./median.ts";
import { SpikeInputError } from "./spike-input-error.ts";
import { completeThresholds, type PartialThresholds, type SpikeThresholds } from "./thresholds.ts";
import { checkCount, spikeSeverity, type SpikeSeverity } from "./verdict.ts";
import { checkInstant } from "./window.ts";

/** How the deaths of an organization are counted and expected. Each field is a key of the configuration. */
export interface SpikeRule {
  /** The rule of the expected deaths. */
  readonly baseline: BaselineKind;
  /** What the counts count; `assets` needs a median. */
  readonly count: CountKind;
}

/** The rule of API v2. */
export const apiRule: SpikeRule = { baseline: "mean", count: "deaths" };

/** Returns the rule of an organization. A field that is forgotten here is an error of the type checker. */
export function spikeRuleOf({ baseline, count }: SpikeRule): SpikeRule {
  return { baseline, count };
}

/** Without a rule it is {@link apiRule}. */
export interface SpikeInput extends Partial<SpikeRule> {
  /** The organization; not empty. */
  readonly slug: string;
  /** End of the window, integer epoch ms. */
  readonly nowMs: number;
  /** Absent: the API's defaults. */
  readonly thresholds?: PartialThresholds;
  readonly currentCount: number;
  readonly baselineCount: number;
  /** Deaths in each of medianDays, in its order; only a median needs them. */
  readonly dayCounts?: DayCounts;
  /** The organization's first stored event, epoch ms; the median skips days that begin before it [null: none]. */
  readonly firstEventAtMs?: number | null;
  /** Counts by asset type, for the findings. */
  readonly assetTypes?: readonly AssetTypeCounts[];
  /** Template of the link to the organization, with `{slug}`; null: no link. */
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
    /** Set when assets are counted. */
    readonly counting?: "assets";
    /** For a median: the number of its days. */
    readonly baselineDaysKnown?: number;
    /** For a median: deaths of the same window one day before (`day1`), two days before (`day2`) and so on. */
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
  "Open some of the newly dead assets by hand: if they still load, the liveness checker is wrong, so repair it, " +
  "close no takedown because of these deaths, and reopen each that was closed.";

/** A result with the numbers of its findings, which only have text. */
export interface SpikeEvaluation {
  readonly result: SpikeResult;
  /** The asset types of the findings, the largest excess first. */
  readonly assetTypes: readonly AssetTypeExcess[];
}

/**
 * Returns whether an organization's assets die at an unusual rate, and why (CONTRACT 2). Pure and exact.
 * @throws SpikeInputError for an empty slug, or an instant, count or threshold out of range
 */
export function evaluateSpike(input: SpikeInput): SpikeResult {
  return evaluateWithTypes(input).result;
}

/** The same, with the numbers of the findings. @throws SpikeInputError as {@link evaluateSpike} */
export function evaluateWithTypes(input: SpikeInput): SpikeEvaluation {
  const { slug, nowMs, currentCount, baselineCount } = input;
  if (slug === "") throw new SpikeInputError("slug", "slug must have at least one character");
  checkInstant("nowMs", nowMs);
  checkCount("currentCount", currentCount);
  checkCount("baselineCount", baselineCount);
  const thresholds = completeThresholds(input.thresholds);

  const { baseline = apiRule.baseline, count = apiRule.count, firstEventAtMs = null } = input;
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
  // Only findings name types. With a median the call also checks the days.
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
  // A slug may have lone surrogates, which encodeURIComponent refuses.
  return template === null ? null : template.replaceAll("{slug}", () => encodeURIComponent(slug.toWellFormed()));
}

function dayKeys(dayCounts: DayCounts): Partial<SpikeResult["observed"]> {
  const days = dayCounts.flatMap((count, index) => (count === null ? [] : [[`day${index + 1}`, count] as const]));
  return { baselineDaysKnown: days.length, ...Object.fromEntries(days) };
}

/** JSON has no infinity. Nothing is above the largest double anyway. */
function finiteProduct(expectedCount: number, multiplier: number): number {
  return Math.min(expectedCount * multiplier, Number.MAX_VALUE);
}
