import type { ListedOrganization } from "../contract/listed-organization.ts";
import type { Config, DiscoverConfig, OrganizationConfig } from "../config/config.ts";
import { inTimezone } from "../config/resolve/organization.ts";

/** The list that holds of each discovery source, by its name. */
export type AppliedLists = ReadonlyMap<string, readonly ListedOrganization[]>;

/**
 * Returns the configuration with what its sources list: organizations of the file win over discovered ones, and of two sources the
 * first one (CONTRACT 14).
 */
export function withDiscovered(config: Config, lists: AppliedLists): Config {
  if (config.discover.length === 0) return config;
  const configured = config.organizations.filter(({ discoveredBy }) => discoveredBy === null);
  const organizations = new Map(configured.map((organization) => [organization.slug, organization]));
  for (const source of config.discover)
    for (const listed of lists.get(source.name) ?? [])
      if (!organizations.has(listed.slug)) organizations.set(listed.slug, discoveredOrganization(source, listed));
  return { ...config, organizations: [...organizations.values()] };
}

/** One organization of a source: what `defaults` says, and over it what the list may. */
export function discoveredOrganization(
  { template }: Pick<DiscoverConfig, "template">,
  { slug, labels, timezone, schedule, thresholds }: ListedOrganization,
): OrganizationConfig {
  const base = timezone === undefined ? template : inTimezone(template, timezone);
  return {
    ...base,
    slug,
    schedule: { ...base.schedule, ...(schedule === undefined ? {} : { pattern: schedule.trim() }) },
    thresholds: { ...template.thresholds, ...thresholds },
    labels: { ...template.labels, ...labels },
  };
}
