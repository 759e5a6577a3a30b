import { checkSettings, type SettingsOfChecks } from "../../checks/checks.ts";
import type { ScheduleOf } from "../../checks/kind.ts";
import type { OrganizationConfig } from "../config.ts";
import { layered } from "../../base/layers.ts";
import type { YamlPath } from "../document/problems.ts";
import {
  builtinSettings,
  type BuiltinSettings,
  type OrganizationInput,
  type Settings,
} from "../schema/organization.ts";

export interface OrganizationResolution {
  readonly organization: OrganizationInput | string;
  /** The discovery source that it belongs to; null: none. */
  readonly discoveredBy: string | null;
  readonly defaults: Settings;
  /** Paths of what nobody is shown of it. */
  readonly hidden: readonly YamlPath[];
  readonly receiverNames: readonly string[];
}

/**
 * Returns the effective organization: its own settings, then those of `defaults`, then the built-in ones; `thresholds`,
 * `labels`, `alert`, `gate` and the settings of checks field by field, all others as a whole (CONTRACT 4).
 */
export function resolveOrganization(resolution: OrganizationResolution): OrganizationConfig {
  const { organization, discoveredBy, defaults, hidden, receiverNames } = resolution;
  const own: OrganizationInput = typeof organization === "string" ? { slug: organization } : organization;
  const { schedule, timezone, jitterMs, ...settings } = settled(defaults, own);
  const scheduleOf: ScheduleOf = (pattern) => ({ pattern: pattern.trim(), timezone, jitterMs });
  const checks = checkSettings.map((settings) => {
    const { key } = settings;
    return [key, settings.resolve([defaults[key], own[key]], scheduleOf)];
  });
  return {
    ...settings,
    slug: own.slug,
    schedule: scheduleOf(schedule),
    receivers: own.receivers ?? defaults.receivers ?? receiverNames.map((name) => ({ name, afterMs: 0 })),
    ...(Object.fromEntries(checks) as SettingsOfChecks),
    healthchecks: healthchecksOf(defaults, own),
    apiKey: own.apiKey ?? null,
    hidden,
    discoveredBy,
  };
}

/** Returns an organization of which nothing is said, for all receivers of these names. */
export function builtinOrganization(receiverNames: readonly string[]): OrganizationConfig {
  return resolveOrganization({
    organization: "",
    discoveredBy: null,
    defaults: {},
    hidden: [],
    receiverNames,
  });
}

/** Returns the paths below another one, from there on; an organization that is a text is its slug. */
export function below(paths: readonly YamlPath[], from: YamlPath): YamlPath[] {
  return paths
    .filter((path) => from.every((step, index) => path[index] === step))
    .map((path) => (path.length === from.length ? ["slug"] : path.slice(from.length)));
}

/** Returns those that run: of one path what the last layer says. */
function healthchecksOf(...layers: readonly Settings[]): OrganizationConfig["healthchecks"] {
  const byPath = new Map(layers.flatMap(({ healthchecks = [] }) => healthchecks.map((one) => [one.path, one])));
  return [...byPath.values()].filter(({ enabled }) => enabled !== false);
}

// A loop is cheaper here: each of ten thousand organizations is settled.
const builtIns = Object.entries(builtinSettings).map(([key, value]) => {
  const isNested = typeof value === "object" && !Array.isArray(value);
  return { key: key as keyof BuiltinSettings, value, isNested };
});

/** Returns the settings that have a built-in value: the last layer that has one wins, objects field by field. */
export function settled(...layers: readonly Settings[]): BuiltinSettings {
  const settings: Record<string, unknown> = {};
  for (const { key, value, isNested } of builtIns) {
    let said: unknown = value;
    for (const { [key]: own } of layers)
      if (own !== undefined) said = isNested ? layered(said as object, own as object) : own;
    settings[key] = said;
  }
  return settings as unknown as BuiltinSettings;
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
