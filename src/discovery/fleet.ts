import type { ListedOrganization } from "../contract/listed-organization.ts";
import type { Config, DiscoverConfig, OrganizationConfig } from "../config/config.ts";

/** The list that holds of each discovery source, by its name. */
export type AppliedLists = ReadonlyMap<string, readonly ListedOrganization[]>;

/**
 * Returns the configuration with what its sources list: organizations of the files win over discovered ones, and of two sources the
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

/** One organization of a source: what the source's `organization` says, and over it what the list may. */
export function discoveredOrganization(
  { name, template }: DiscoverConfig,
  { slug, labels, timezone, schedule, thresholds }: ListedOrganization,
): OrganizationConfig {
  const inZone = (of: OrganizationConfig["schedule"]): OrganizationConfig["schedule"] =>
    timezone === undefined ? of : { ...of, timezone };
  const { reviewQueue, sentinel, eventFlow } = template;
  const place = `list of ${name}`;
  const listedAt = Object.fromEntries(
    [
      ...(timezone === undefined ? [] : ["timezone"]),
      ...(schedule === undefined ? [] : ["schedule"]),
      ...Object.keys(thresholds ?? {}).map((key) => `thresholds.${key}`),
    ].map((path) => [path, place]),
  );
  return {
    ...template,
    slug,
    schedule: { ...inZone(template.schedule), ...(schedule === undefined ? {} : { pattern: schedule.trim() }) },
    thresholds: { ...template.thresholds, ...thresholds },
    labels: { ...template.labels, ...labels },
    reviewQueue: { ...reviewQueue, schedule: inZone(reviewQueue.schedule) },
    sentinel: { ...sentinel, schedule: inZone(sentinel.schedule) },
    eventFlow: { ...eventFlow, schedule: inZone(eventFlow.schedule) },
    setAt: { ...template.setAt, ...listedAt },
  };
}
