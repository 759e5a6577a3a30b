import { checkSettings } from "../checks/checks.ts";
import type { OrganizationConfig } from "./config.ts";
import { layered } from "../base/layers.ts";
import type { YamlPath } from "./document/problems.ts";
import { builtinSettings, type BuiltinSettings, type OrganizationInput, type Settings } from "./schema/organization.ts";

export interface OrganizationResolution {
  readonly organization: OrganizationInput | string;
  /** The discovery source that it belongs to; null: none. */
  readonly discoveredBy: string | null;
  readonly defaults: Settings;
  /** Paths of what nobody is shown of it. */
  readonly hidden: readonly YamlPath[];
  readonly receiverNames: readonly string[];
}

/** Returns an organization with what `defaults` say, then what is built in, objects field by field. */
export function resolveOrganization(resolution: OrganizationResolution): OrganizationConfig {
  const { organization, discoveredBy, defaults, hidden, receiverNames } = resolution;
  const own: OrganizationInput = typeof organization === "string" ? { slug: organization } : organization;
  return {
    ...settled(defaults, own),
    slug: own.slug,
    receivers: own.receivers ?? defaults.receivers ?? receiverNames.map((name) => ({ name, afterMs: 0 })),
    healthchecks: healthchecksOf(defaults, own),
    apiKey: own.apiKey ?? null,
    hidden,
    discoveredBy,
  };
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
  // A check without a switch runs where its key is.
  const isOptional = checkSettings.some((one) => one.key === key && one.switchedBy === undefined);
  return { key: key as keyof BuiltinSettings, value, isNested, isOptional };
});

/** Returns the settings that have a built-in value: the last layer that has one wins, objects field by field. */
export function settled(...layers: readonly Settings[]): BuiltinSettings {
  const settings: Record<string, unknown> = {};
  for (const { key, value, isNested, isOptional } of builtIns) {
    let said: unknown = null;
    for (const { [key]: own } of layers)
      if (own !== undefined) said = isNested ? layered(said ?? value, own as object) : own;
    settings[key] = said ?? (isOptional ? null : value);
  }
  return settings as unknown as BuiltinSettings;
}
