import { stretchOf } from "../alerting/decide/stretch.ts";
import type { Config } from "../config/config.ts";
import type { JudgedStretch } from "../contract/judgement.ts";
import type { LivenessCounts } from "../contract/liveness-counts.ts";
import type { SpikeRule } from "../service/local-evaluation.ts";
import type { Store } from "../store/store.ts";

/** Returns the rule of each organization: its own, or that of `defaults` where the file does not name it. */
export function ruleOf({
  organizations,
  defaults,
}: Pick<Config, "organizations" | "defaults">): (slug: string) => SpikeRule {
  const configured = new Map(organizations.map(({ slug, baseline, count }) => [slug, { baseline, count }]));
  return (slug) => configured.get(slug) ?? { baseline: defaults.baseline };
}

/** Returns what leaves the baseline of organizations with `baselineExclude: judged`, by what is judged now; absent: of none. */
export function stretchesReader(
  { organizations }: Pick<Config, "organizations">,
  store: Pick<Store, "judgements"> | null,
): Pick<LivenessCounts, "stretches"> {
  const windows = new Map(
    organizations.flatMap(({ slug, baselineExclude, thresholds }) =>
      baselineExclude === "judged" ? [[slug, thresholds.windowHours] as const] : [],
    ),
  );
  if (windows.size === 0) return {};
  return {
    stretches: async (slugs) => {
      const found = new Map<string, JudgedStretch[]>();
      for (const slug of slugs) if (windows.has(slug)) found.set(slug, []);
      if (found.size === 0 || store === null) return found;
      const [only] = found.size === 1 ? [...found.keys()] : [];
      for (const kept of await store.judgements.judgedChecker(only)) {
        const { slug } = kept.alert;
        const stretch = stretchOf(kept, windows.get(slug) ?? 0);
        if (stretch !== null) found.get(slug)?.push(stretch);
      }
      return found;
    },
  };
}

/** Counts with what leaves the baseline. */
export function withStretchesOf(
  counts: LivenessCounts,
  config: Pick<Config, "organizations">,
  store: Pick<Store, "judgements"> | null,
): LivenessCounts {
  const { stretches } = stretchesReader(config, store);
  if (stretches === undefined) return counts;
  return {
    deaths: (queries, options) => counts.deaths(queries, options),
    firstEventAtMs: (slug, options) => counts.firstEventAtMs(slug, options),
    stretches,
  };
}
