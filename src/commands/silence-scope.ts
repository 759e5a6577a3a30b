import { matchesText } from "../base/text-pattern.ts";
import type { Config } from "../config/config.ts";

/** Slugs of the configuration that a silence's `slug` (exact, or with `*`) matches. */
export function silencedSlugs(config: Config, pattern: string): string[] {
  return config.organizations.map(({ slug }) => slug).filter((slug) => matchesText(pattern, slug));
}
