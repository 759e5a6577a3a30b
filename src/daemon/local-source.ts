import { FlatlineError } from "../base/errors.ts";
import type { LivenessCounts } from "../contract/liveness-counts.ts";
import type { PlatformSource } from "../contract/platform-api.ts";
import type { RunCheckDeps } from "../monitor/run-check.ts";
import { evaluateRound } from "../service/local-evaluation.ts";
import { createLocalPlatformSource } from "../service/local-platform-api.ts";
import type { SpikeRule } from "../spike/evaluate.ts";
import { createSpikeEvidence } from "./evidence/spike.ts";
import { marginMs, ruleOf, sharedDeps, type OpenLocal } from "./source.ts";

// A local evaluation takes milliseconds; after so long its disk has failed.
const storedRunTimeoutMs = 30_000;

/** Opens a source that flatline evaluates: its own store, or the user's table. */
export const openLocal: OpenLocal = (config, source, deps) => {
  const rules = { appUrl: config.appUrl, ruleOf: ruleOf(config) };
  if (!source.holdsEvents) {
    const table = deps.tables.of(source, deps.onRequest);
    return {
      checkDeps: { ...sharedDeps(config, noPlatform, deps), ...evaluationDeps(rules, table) },
      // A check makes at most two queries in a row.
      runTimeoutMs: 2 * source.timeoutMs + marginMs,
    };
  }
  const { store, clock } = deps;
  if (store === null) throw new FlatlineError("internal", "the embedded source is wired without its store");
  const organizations = config.organizations.map(({ slug }) => slug);
  const platform = createLocalPlatformSource({ store, clock, appUrl: config.appUrl, organizations });
  return {
    checkDeps: {
      ...sharedDeps(config, platform, deps),
      ...evaluationDeps(rules, store.events),
      events: store,
      evidence: createSpikeEvidence({ ...deps, store }, deps.board),
    },
    runTimeoutMs: storedRunTimeoutMs,
  };
};

/** Returns the dependencies with which a local source evaluates spikes. */
export function evaluationDeps(
  { appUrl, ruleOf: ruleFor }: { readonly appUrl: string | null; readonly ruleOf: (slug: string) => SpikeRule },
  counts: LivenessCounts,
): Pick<RunCheckDeps, "evaluate" | "firstEvents"> {
  return {
    firstEvents: (slugs) => counts.firstEvents(slugs),
    evaluate: (targets, { nowMs, ...round }) =>
      evaluateRound(
        targets.map(({ slug, thresholds }) => ({ ...ruleFor(slug), slug, thresholds, appUrl, nowMs })),
        counts,
        round,
      ),
  };
}

/** Never asked: the configuration refuses the checks that would ask it. */
const noPlatform: PlatformSource = {
  forOrganization: (slug) => {
    throw new FlatlineError("internal", `nothing can be asked of the platform about "${slug}": its source is a table`);
  },
};
