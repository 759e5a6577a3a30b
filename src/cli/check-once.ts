import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { suggest } from "../base/suggestions.ts";
import type { CheckReport } from "../contract/report.ts";
import { runRound } from "../monitor/run-check.ts";
import { checkKind, isSpike, type CheckTarget } from "../checks/checks.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { ReleaseGroup } from "../base/lifecycle.ts";
import { createSilentLogger, type Logger } from "../base/logger.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { makeScratch } from "./command-config.ts";
import type { CliContext } from "./context.ts";
import { closeWithinMs } from "./read-store.ts";
import { preload } from "../daemon/preload.ts";
import { openConfiguredStore, openConnections } from "../daemon/parts.ts";
import { createSource } from "../daemon/source.ts";
import { checkTargets } from "../daemon/targets.ts";

export interface CheckOnceOptions {
  /** [all that are configured] */
  readonly slugs?: readonly string[];
  /** The only check to run [all]. */
  readonly check?: string;
  /** The time of the evaluation, epoch ms; local sources only [now]. */
  readonly at?: number;
  /** Override the configured ones of every organization. */
  readonly thresholds?: Partial<SpikeThresholds>;
}

const onRequest = (): void => undefined;

/**
 * Evaluates the chosen checks once and returns the reports in the order of the configuration. It notifies no receiver
 * and stores nothing (CONTRACT 3, check). @throws usage for an unknown slug or check, or `at` with a remote source
 */
export async function checkOnce(
  config: Config,
  context: CliContext,
  options: CheckOnceOptions = {},
): Promise<CheckReport[]> {
  const targets = chooseTargets(config, options);
  const { at: atMs } = options;
  if (atMs !== undefined && !config.source.isLocal)
    throw new FlatlineError("usage", "--at needs a local source: the platform's API always evaluates as of now");
  // Only the wall time stands still, not durations and timers.
  const clock = atMs === undefined ? context.clock : { ...context.clock, nowMs: () => atMs };
  const releases = new ReleaseGroup();
  const deps = { ...context, clock, logger: createSilentLogger() };
  try {
    // Other sources do not need the store.
    const store = config.source.holdsEvents
      ? await openEvaluated(config, { ...deps, clock: context.clock }, releases)
      : null;
    const connections = openConnections(context, releases);
    const openLocal = config.source.isLocal ? (await import("../daemon/local-source.ts")).openLocal : null;
    const sourceDeps = { ...deps, ...connections, store, openLocal, board: null, onRequest };
    const { checkDeps, runTimeoutMs } = createSource(config, sourceDeps);
    const ending = (): AbortSignal => clock.timeout(runTimeoutMs, context.signal);
    const runs = (await runRound(targets, checkDeps, ending())).entries();
    const reports: CheckReport[] = [];
    const work = async (): Promise<void> => {
      for (const [index, run] of runs) reports[index] = typeof run === "function" ? await run(ending()) : run;
    };
    await Promise.all(Array.from({ length: Math.min(config.source.concurrency, targets.length) }, work));
    return store === null ? reports : await withNearSlugs(reports, config, store);
  } finally {
    await releases.releaseAll(context.clock, closeWithinMs);
  }
}

/** Opens the store, else a temporary one with the data of `source.preload`: a check creates no store. */
async function openEvaluated(
  config: Config,
  deps: CliContext & { readonly logger: Logger },
  releases: ReleaseGroup,
): Promise<Store> {
  try {
    return await openConfiguredStore(config, deps, releases, { mustExist: true });
  } catch (error) {
    if (!(error instanceof FlatlineError && error.code === "no_input")) throw error;
    deps.stderr.write(`flatline: ${error.message}; checking what source.preload names, if anything\n`);
    const scratch = await makeScratch(config);
    const store = await openStore({ path: scratch.config.storage.path, clock: deps.clock });
    releases.add("temporary store", () => store.close().then(scratch.remove));
    await preload(config, { ...deps, store });
    return store;
  }
}

// Each is compared with every slug that has events.
const mostSuggestions = 100;

/** Suggests a similar slug for one without events, preferably one that is not configured. */
async function withNearSlugs(
  reports: readonly CheckReport[],
  config: Pick<Config, "organizations">,
  { events }: Pick<Store, "events">,
): Promise<CheckReport[]> {
  const unseen = reports.filter((report) => report.kind === "error" && report.error.reason === "no_events");
  if (unseen.length === 0 || unseen.length > mostSuggestions) return [...reports];
  const slugs = await events.slugs();
  const configured = new Set(config.organizations.map(({ slug }) => slug));
  const unwatched = slugs.filter((slug) => !configured.has(slug));
  return reports.map((report) => {
    if (report.kind !== "error" || report.error.reason !== "no_events") return report;
    const hint = suggest(report.slug, unwatched) || suggest(report.slug, slugs);
    return { ...report, error: { ...report.error, message: `${report.error.message}${hint}` } };
  });
}

function chooseTargets(config: Config, { slugs = [], check: only, at, thresholds }: CheckOnceOptions): CheckTarget[] {
  const known = new Set(config.organizations.map(({ slug }) => slug));
  const unknown = slugs.filter((slug) => !known.has(slug));
  if (unknown.length > 0) {
    const names = unknown.map((slug) => `"${slug}"`).join(", ");
    const hint = unknown.map((slug) => suggest(slug, known)).find((text) => text !== "") ?? "";
    throw new FlatlineError("usage", `no organization ${names} in ${config.file}${hint}`);
  }
  const targets = checkTargets(config).filter(({ slug }) => slugs.length === 0 || slugs.includes(slug));
  const names: readonly string[] = [...new Set(targets.map(({ check }) => check))];
  if (only !== undefined && !names.includes(only))
    throw new FlatlineError(
      "usage",
      `no check ${JSON.stringify(only)} is configured${slugs.length === 0 ? "" : " there"}: ` +
        `${names.join(", ")}${suggest(only, names)}`,
    );
  return targets
    .filter(({ check }) => only === undefined || check === only)
    .filter(({ check }) => at === undefined || checkKind(check).canLookBack)
    .map((target) => (isSpike(target) ? { ...target, thresholds: { ...target.thresholds, ...thresholds } } : target));
}
