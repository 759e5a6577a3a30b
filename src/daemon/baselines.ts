import type { Config } from "../config/config.ts";
import type { SpikeRule } from "../service/local-evaluation.ts";

/** Returns the rule of each organization: its own, or that of `defaults` where the file does not name it. */
export function ruleOf({
  organizations,
  defaults,
}: Pick<Config, "organizations" | "defaults">): (slug: string) => SpikeRule {
  const configured = new Map(organizations.map(({ slug, baseline, count }) => [slug, { baseline, count }]));
  return (slug) => configured.get(slug) ?? { baseline: defaults.baseline };
}
