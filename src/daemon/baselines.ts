import type { Config } from "../config/config.ts";
import type { BaselineKind } from "../spike/median.ts";

/** By which rule each organization's deaths are expected: its own, or that of `defaults` where the file does not name it. */
export function baselineOf({
  organizations,
  defaults,
}: Pick<Config, "organizations" | "defaults">): (slug: string) => BaselineKind {
  const configured = new Map(organizations.map(({ slug, baseline }) => [slug, baseline]));
  return (slug) => configured.get(slug) ?? defaults.baseline;
}
