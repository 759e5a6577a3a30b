import { FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
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
import { closeWithinMs } from "./read-store.ts";
import { preload } from "../daemon/preload.ts";
import { openConfiguredStore, openConnections, type PartsDeps } from "../daemon/parts.ts";
import { createSource } from "../daemon/source.ts";
import { checkTargets } from "../daemon/targets.ts";

export interface CheckOnceOptions {
  /** Those to check; none: all that are configured. */
  readonly slugs: readonly string[];
  /** The name of the check that is run; absent: all. */
  readonly check?: string;
  /** Evaluate as of then; local sources only. */
  readonly atMs: number | null;
  /** Go before what is configured, for every organization. */
  readonly thresholds: Partial<SpikeThresholds>;
  /** Called with a sentence when there is no store: what is checked then is what `source.preload` names. */
  readonly onNoStore: (message: string) => void;
}

const onRequest = (): void => undefined;

/**
 * Evaluates every chosen check once, at most `source.concurrency` at a time, and answers in the order of the configuration.
 * No receiver is notified and nothing is stored (CONTRACT 3, check). @throws usage for an unknown slug or check, or `atMs` with a remote source
 */
export async function checkOnce(
  config: Config,
  deps: PartsDeps & { readonly signal: AbortSignal },
  options: CheckOnceOptions,
): Promise<CheckReport[]> {
  const targets = chooseTargets(config, options);
  if (options.atMs !== null && !config.source.isLocal) {
    throw new FlatlineError("usage", "--at needs a local source: the platform's API always evaluates as of now");
  }
  const clock = options.atMs === null ? deps.clock : standingClock(deps.clock, options.atMs);
  const releases = new ReleaseGroup();
  const logger = createSilentLogger();
  try {
    // Any other source has its numbers elsewhere.
    const store = config.source.holdsEvents
      ? await openEvaluated(config, { ...deps, logger }, releases, options.onNoStore)
      : null;
    const connections = openConnections(deps, releases);
    const openLocal = config.source.isLocal ? (await import("../daemon/local-source.ts")).openLocal : null;
    const sourceDeps = { ...deps, ...connections, store, clock, logger, openLocal, board: null, onRequest };
    const { checkDeps, runTimeoutMs } = createSource(config, sourceDeps);
    const ending = (): AbortSignal => clock.timeout(runTimeoutMs, deps.signal);
    const runs = await runRound(targets, checkDeps, ending());
    const reports: CheckReport[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < runs.length; index = next++) {
        const run = runs[index];
        if (run !== undefined) reports[index] = typeof run === "function" ? await run(ending()) : run;
      }
    };
    const places = { length: Math.min(config.source.concurrency, targets.length) };
    await Promise.all(Array.from(places, work));
    return store === null ? reports : await withNearSlugs(reports, config, store);
  } finally {
    await releases.releaseAll(deps.clock, closeWithinMs);
  }
}

/** Opens the store; where there is none, a temporary one with the data of `source.preload`: a check makes no store, and nothing stored is an answer. */
async function openEvaluated(
  config: Config,
  deps: PartsDeps & { readonly logger: Logger; readonly signal: AbortSignal },
  releases: ReleaseGroup,
  onNoStore: (message: string) => void,
): Promise<Store> {
  try {
    return await openConfiguredStore(config, deps, releases, { mustExist: true });
  } catch (error) {
    if (!(error instanceof FlatlineError && error.code === "no_input")) throw error;
    onNoStore(error.message);
    const scratch = await makeScratch(config);
    const store = await openStore({ path: scratch.config.storage.path, clock: deps.clock });
    releases.add("temporary store", () => store.close().then(scratch.remove));
    await preload(config, { ...deps, store });
    return store;
  }
}

// Each one is compared with every slug that has events.
const mostSuggestions = 100;

/** Names the slug that was probably meant where no event was ever stored; preferably one without a check. */
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

function chooseTargets(config: Config, options: CheckOnceOptions): CheckTarget[] {
  const known = new Set(config.organizations.map(({ slug }) => slug));
  const unknown = options.slugs.filter((slug) => !known.has(slug));
  if (unknown.length > 0) {
    const names = unknown.map((slug) => `"${slug}"`).join(", ");
    const hint = unknown.map((slug) => suggest(slug, known)).find((text) => text !== "") ?? "";
    throw new FlatlineError("usage", `no organization ${names} in ${config.file}${hint}`);
  }
  const wanted = new Set(options.slugs);
  const targets = checkTargets(config).filter(({ slug }) => wanted.size === 0 || wanted.has(slug));
  const { check: only } = options;
  const names: readonly string[] = [...new Set(targets.map(({ check }) => check))];
  if (only !== undefined && !names.includes(only))
    throw new FlatlineError(
      "usage",
      `no check ${JSON.stringify(only)} is configured${wanted.size === 0 ? "" : " there"}: ${names.join(", ")}${suggest(only, names)}`,
    );
  return targets
    .filter(({ check }) => only === undefined || check === only)
    .filter(({ check }) => options.atMs === null || checkKind(check).canLookBack)
    .map((target) =>
      isSpike(target) ? { ...target, thresholds: { ...target.thresholds, ...options.thresholds } } : target,
    );
}

/** A clock whose wall time stands still: durations and timers go on. */
function standingClock(clock: Clock, atMs: number): Clock {
  return { ...clock, nowMs: () => atMs };
}
