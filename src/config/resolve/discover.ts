import { resolve } from "node:path";

import { Secret } from "../../base/secret.ts";
import type { DiscoverConfig } from "../config.ts";
import { parseDuration } from "../../base/durations.ts";
import type { DiscoverInput } from "../schema/discover.ts";
import { resolveOrganization, type OrganizationResolution } from "./organization.ts";

/** One discovery source, with what its organizations start from. */
export function resolveDiscover(
  source: DiscoverInput,
  index: number,
  shared: Omit<OrganizationResolution, "organization" | "path" | "discoveredBy">,
): DiscoverConfig {
  const { name, file, organization, maxOrganizations } = source;
  const { places, secrets } = shared;
  const path = ["discover", index];
  const template = resolveOrganization({
    ...shared,
    organization: { ...organization, slug: "" },
    path: [...path, "organization"],
    discoveredBy: name,
  });
  return {
    name,
    location:
      file === undefined
        ? { kind: "url", url: secrets.of(path, "url")[0] ?? new Secret(""), headers: secrets.headersOf(path) }
        : { kind: "file", path: resolve(places.folderOf(path), file) },
    refreshIntervalMs: parseDuration(source.refreshInterval) ?? 0,
    maxOrganizations,
    template: { ...template, setAt: { ...template.setAt, "": places.lineOf(path) } },
  };
}
