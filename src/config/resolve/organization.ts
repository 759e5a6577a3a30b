import type { RegretLimits } from "../../checks/regret/evaluate.ts";
import type { OrganizationConfig } from "../config.ts";
import type { ConfigPlaces } from "../document/places.ts";
import { parseDuration } from "../../base/durations.ts";
import { formatPath, type YamlPath } from "../document/problems.ts";
import { builtinSettings, type OrganizationInput, type SettingsInput } from "../schema/organization.ts";
import type { SecretBook } from "./secrets.ts";

export interface OrganizationResolution {
  readonly organization: OrganizationInput;
  /** Where it stands. */
  readonly path: YamlPath;
  /** The discovery source that it belongs to; null: none. */
  readonly discoveredBy: string | null;
  readonly places: ConfigPlaces;
  readonly defaults: SettingsInput;
  /** Where `defaults` says what. */
  readonly defaultsSetAt: Readonly<Record<string, string>>;
  readonly receiverNames: readonly string[];
  readonly secrets: SecretBook;
}

/**
 * One organization as it is effective: what it says itself, else what `defaults` says, else what is built in; `thresholds`,
 * `labels`, `alert`, `reviewQueue`, `sentinel`, `eventFlow`, `regret` and `gate` field by field, all else as a whole (CONTRACT 4).
 */
export function resolveOrganization(resolution: OrganizationResolution): OrganizationConfig {
  const { organization, path, discoveredBy, places, defaults, defaultsSetAt, receiverNames, secrets } = resolution;
  const own: SettingsInput & { slug: string } =
    typeof organization === "string" ? { slug: organization } : organization;
  const alert = merge(builtinSettings.alert, defaults.alert, own.alert);
  const reviewQueue = merge(builtinSettings.reviewQueue, defaults.reviewQueue, own.reviewQueue);
  const sentinelSchedule = own.sentinel?.schedule ?? defaults.sentinel?.schedule ?? builtinSettings.sentinel.schedule;
  const eventFlow = merge(builtinSettings.eventFlow, defaults.eventFlow, own.eventFlow);
  const timezone = own.timezone ?? defaults.timezone ?? builtinSettings.timezone;
  const jitterMs = milliseconds(own.jitter ?? defaults.jitter ?? builtinSettings.jitter);
  const pattern = own.schedule ?? defaults.schedule ?? builtinSettings.schedule;
  return {
    slug: own.slug,
    schedule: { pattern: pattern.trim(), timezone, jitterMs },
    thresholds: merge(builtinSettings.thresholds, defaults.thresholds, own.thresholds),
    baseline: own.baseline ?? defaults.baseline ?? builtinSettings.baseline,
    attributionDays: own.attributionDays ?? defaults.attributionDays ?? builtinSettings.attributionDays,
    sample: own.sample ?? defaults.sample ?? builtinSettings.sample,
    baselineExclude: own.baselineExclude ?? defaults.baselineExclude ?? builtinSettings.baselineExclude,
    whenNoEvents: own.whenNoEvents ?? defaults.whenNoEvents ?? builtinSettings.whenNoEvents,
    receivers: (own.receivers ?? defaults.receivers ?? receiverNames).map((routed) =>
      typeof routed === "string"
        ? { name: routed, afterMs: 0 }
        : { name: routed.name, afterMs: milliseconds(routed.after) },
    ),
    labels: { ...defaults.labels, ...own.labels },
    alert: {
      forMs: milliseconds(alert.for),
      keepFiringForMs: milliseconds(alert.keepFiringFor),
      unknownAfter: alert.unknownAfter,
      repeatIntervalMs: milliseconds(alert.repeatInterval),
      minBaselineCoverage: alert.minBaselineCoverage,
    },
    reviewQueue: {
      enabled: reviewQueue.enabled,
      schedule: { pattern: reviewQueue.schedule.trim(), timezone, jitterMs },
      warnAfterMs: milliseconds(reviewQueue.warnAfter),
      failAfterMs: milliseconds(reviewQueue.failAfter),
    },
    sentinel: {
      assets: own.sentinel?.assets ?? defaults.sentinel?.assets ?? builtinSettings.sentinel.assets,
      schedule: { pattern: sentinelSchedule.trim(), timezone, jitterMs },
    },
    eventFlow: {
      enabled: eventFlow.enabled,
      schedule: { pattern: eventFlow.schedule.trim(), timezone, jitterMs },
      maxSilenceMs: eventFlow.maxSilence === "auto" ? "auto" : milliseconds(eventFlow.maxSilence),
      maxCoverageDrop: eventFlow.maxCoverageDrop,
    },
    regret: resolveRegret(defaults.regret, own.regret),
    gate: { ...builtinSettings.gate, ...given(defaults.gate), ...given(own.gate) },
    apiKey: secrets.of(path, "apiKey")[0] ?? null,
    discoveredBy,
    setAt: { ...defaultsSetAt, ...whereSet(places, path), "": places.lineOf(path) },
  };
}

/** Off by default. */
function resolveRegret(defaults: SettingsInput["regret"], own: SettingsInput["regret"]): RegretLimits | null {
  if (defaults === undefined && own === undefined) return null;
  const { window, maturity, ...limits } = merge(builtinSettings.regret, defaults, own);
  return {
    ...limits,
    windowMs: milliseconds(window),
    maturityMs: maturity === "auto" ? "auto" : milliseconds(maturity),
  };
}

function milliseconds(text: string): number {
  return parseDuration(text) ?? 0;
}

/** Returns what a layer says, without what it leaves open. */
export function given<Fields extends object>(
  layer: Fields | undefined,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const entries = Object.entries(layer ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}

type Widened<Fields> = {
  readonly [Key in keyof Fields]: Fields[Key] extends string ? string : Fields[Key] extends boolean ? boolean : number;
};
type Partly<Fields> = { readonly [Key in keyof Fields]?: Fields[Key] | undefined };

function merge<const Fields extends object>(
  builtin: Fields,
  ...layers: readonly (Partly<Widened<Fields>> | undefined)[]
): Widened<Fields> {
  const merged = { ...builtin } as Record<string, unknown>;
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) if (value !== undefined) merged[key] = value;
  }
  return merged as Widened<Fields>;
}

/** Path below an object → `file:line`, for each of its values. */
export function whereSet(places: ConfigPlaces, path: YamlPath): Record<string, string> {
  const lines: Record<string, string> = {};
  for (const leaf of places.leafPaths(path)) {
    if (leaf.length > path.length) lines[formatPath(leaf.slice(path.length))] = places.lineOf(leaf);
  }
  return lines;
}
