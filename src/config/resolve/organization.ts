import { checkSettings, type SettingsOfChecks } from "../../checks/checks.ts";
import type { ScheduleOf } from "../../checks/settings.ts";
import type { OrganizationConfig } from "../config.ts";
import type { ConfigPlaces } from "../document/places.ts";
import { layered } from "../../base/layers.ts";
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
 * `labels`, `alert`, `gate` and the settings of checks field by field, all else as a whole (CONTRACT 4).
 */
export function resolveOrganization(resolution: OrganizationResolution): OrganizationConfig {
  const { organization, path, discoveredBy, places, defaults, defaultsSetAt, receiverNames, secrets } = resolution;
  const own: SettingsInput & { slug: string } =
    typeof organization === "string" ? { slug: organization } : organization;
  const alert = layered(builtinSettings.alert, defaults.alert, own.alert);
  const timezone = own.timezone ?? defaults.timezone ?? builtinSettings.timezone;
  const jitterMs = own.jitter ?? defaults.jitter ?? builtinSettings.jitter;
  const scheduleOf: ScheduleOf = (pattern) => ({ pattern: pattern.trim(), timezone, jitterMs });
  return {
    slug: own.slug,
    schedule: scheduleOf(own.schedule ?? defaults.schedule ?? builtinSettings.schedule),
    thresholds: layered(builtinSettings.thresholds, defaults.thresholds, own.thresholds),
    baseline: own.baseline ?? defaults.baseline ?? builtinSettings.baseline,
    attributionDays: own.attributionDays ?? defaults.attributionDays ?? builtinSettings.attributionDays,
    sample: own.sample ?? defaults.sample ?? builtinSettings.sample,
    baselineExclude: own.baselineExclude ?? defaults.baselineExclude ?? builtinSettings.baselineExclude,
    whenNoEvents: own.whenNoEvents ?? defaults.whenNoEvents ?? builtinSettings.whenNoEvents,
    receivers: (own.receivers ?? defaults.receivers ?? receiverNames).map((routed) =>
      typeof routed === "string" ? { name: routed, afterMs: 0 } : { name: routed.name, afterMs: routed.after },
    ),
    labels: { ...defaults.labels, ...own.labels },
    alert: {
      forMs: alert.for,
      keepFiringForMs: alert.keepFiringFor,
      unknownAfter: alert.unknownAfter,
      repeatIntervalMs: alert.repeatInterval,
      minBaselineCoverage: alert.minBaselineCoverage,
    },
    ...resolveChecks([defaults, own], scheduleOf),
    gate: layered(builtinSettings.gate, defaults.gate, own.gate),
    apiKey: secrets.of(path, "apiKey")[0] ?? null,
    discoveredBy,
    setAt: { ...defaultsSetAt, ...whereSet(places, path), "": places.lineOf(path) },
  };
}

function resolveChecks(layers: readonly SettingsInput[], scheduleOf: ScheduleOf): SettingsOfChecks {
  const resolved = checkSettings.map((settings) => {
    const written = layers.map((layer) => layer[settings.key]);
    return [settings.key, settings.resolve(written, scheduleOf)];
  });
  return Object.fromEntries(resolved) as SettingsOfChecks;
}

/** Returns an organization with all of its schedules in a timezone. */
export function inTimezone(organization: OrganizationConfig, timezone: string): OrganizationConfig {
  const checks = checkSettings.map(({ key }) => {
    const settings = organization[key];
    const hasSchedule = settings !== null && "schedule" in settings;
    return [key, hasSchedule ? { ...settings, schedule: { ...settings.schedule, timezone } } : settings];
  });
  const schedule = { ...organization.schedule, timezone };
  return { ...organization, schedule, ...(Object.fromEntries(checks) as SettingsOfChecks) };
}

/** Path below an object → `file:line`, for each of its values. */
export function whereSet(places: ConfigPlaces, path: YamlPath): Record<string, string> {
  const lines: Record<string, string> = {};
  for (const leaf of places.leafPaths(path)) {
    if (leaf.length > path.length) lines[formatPath(leaf.slice(path.length))] = places.lineOf(leaf);
  }
  return lines;
}
