import { FlatlineError } from "../base/errors.ts";
import { createBodyGate } from "../base/body-gate.ts";
import { holdHeap, releaseHeap } from "../base/heap-growth.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import type { Clock } from "../base/time.ts";
import { createPlatformSource, type PlatformSourceOptions } from "../client/platform-source.ts";
import type { PauseRegistry } from "../client/pauses.ts";
import type { Config, RemoteSourceConfig, TableSourceConfig } from "../config/config.ts";
import type { LivenessCounts } from "../contract/liveness-counts.ts";
import type { PlatformSource } from "../contract/platform-api.ts";
import type { RunCheckDeps } from "../monitor/run-check.ts";
import { createLocalPlatformSource } from "../service/local-platform-source.ts";
import { evaluateRound, type SpikeRule } from "../service/local-evaluation.ts";
import type { Store } from "../store/store.ts";
import { createSpikeEvidence, type SpikeEvidenceOptions } from "./evidence/spike.ts";
import type { TableCountsBook } from "./table-counts.ts";

// An answer has some kilobytes. Larger ones are read one by one: sixteen of 4 MiB at once are most of a daemon's memory.
const largeAnswerBytes = 128 * 1_024;
const largeAnswersAtOnce = 1;

export interface RemoteSourceDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly dispatcher: HttpDispatcher;
  readonly version: string;
  readonly onRequest: (event: { readonly operation: string; readonly code: string }) => void;
  /** Pauses of this process, over all its configurations [of the source alone]. */
  readonly pauses?: PauseRegistry;
  /** Called once per filter that the service seems to ignore, with its name. */
  readonly onIgnoredFilter?: NonNullable<PlatformSourceOptions["onIgnoredFilter"]>;
}

export interface SourceDeps extends RemoteSourceDeps {
  /** Pauses that probes asked for [those of the runs]. */
  readonly probePauses?: PauseRegistry;
  /** Asked by the embedded source, and for what leaves a baseline; null where neither is needed. */
  readonly store: Store | null;
  /** Asked by sources that read a table only. */
  readonly tables: TableCountsBook;
}

/** Everything that depends on the kind of source. */
export interface Source {
  readonly checkDeps: RunCheckDeps;
  /** For probes: what the platform answers them, as a pause, is no concern of the runs. */
  readonly probeDeps: RunCheckDeps;
  /** Counts of a local source; null with a remote one, which counts itself. */
  readonly counts: LivenessCounts | null;
  /** Bound of one run, all attempts and the waits between them included. */
  readonly runTimeoutMs: number;
}

/** Creates the source that evaluates by this configuration: the platform over the wire, or flatline over its own store or the user's table. */
export function createSource(
  config: Config,
  deps: SourceDeps & Pick<SpikeEvidenceOptions, "logger" | "board">,
): Source {
  const { source } = config;
  if (!source.isLocal) {
    const { pauses, probePauses = pauses } = deps;
    const asked = probePauses === undefined ? deps : { ...deps, pauses: probePauses };
    return {
      checkDeps: sharedDeps(config, createRemoteSource(config, source, deps), deps),
      probeDeps: sharedDeps(config, createRemoteSource(config, source, asked), deps),
      counts: null,
      // Attempts may each take the timeout; a longer Retry-After ends the run anyway (CONTRACT 9, the client).
      runTimeoutMs: (2 * source.retries + 1) * source.timeoutMs + marginMs,
    };
  }
  const local = source.holdsEvents ? openStored(config, deps) : openTable(config, source, deps);
  return { ...local, probeDeps: local.checkDeps };
}

function openStored(
  config: Config,
  deps: SourceDeps & Pick<SpikeEvidenceOptions, "logger" | "board">,
): Omit<Source, "probeDeps"> {
  const { store } = deps;
  if (store === null) throw new FlatlineError("internal", "the embedded source is wired without its store");
  return {
    checkDeps: {
      ...sharedDeps(config, createEmbeddedSource(config, { store, clock: deps.clock }), deps),
      ...evaluationDeps({ ...config, ruleOf: ruleOf(config) }, store.events),
      events: store,
      evidence: createSpikeEvidence({ ...deps, store }),
    },
    counts: store.events,
    runTimeoutMs: localRunTimeoutMs,
  };
}

function openTable(config: Config, source: TableSourceConfig, deps: SourceDeps): Omit<Source, "probeDeps"> {
  const table = deps.tables.of(source, deps.onRequest);
  return {
    checkDeps: {
      ...sharedDeps(config, noPlatform, deps),
      ...evaluationDeps({ ...config, ruleOf: ruleOf(config) }, table),
    },
    counts: table,
    // A check makes two queries, each of which may wait for another one; the first event is not read each time.
    runTimeoutMs: 2 * source.timeoutMs + marginMs,
  };
}

/** Returns the rule of each organization: its own, or that of `defaults` where the file does not name it. */
export function ruleOf({
  organizations,
  defaults,
}: Pick<Config, "organizations" | "defaults">): EvaluationRules["ruleOf"] {
  const configured = new Map(organizations.map(({ slug, baseline, count }) => [slug, { baseline, count }]));
  return (slug) => configured.get(slug) ?? { baseline: defaults.baseline };
}

/** What a local evaluation needs beside counts and thresholds. */
export interface EvaluationRules {
  readonly appUrl: string | null;
  readonly ruleOf: (slug: string) => SpikeRule;
}

/** Returns what a local source evaluates spikes with. */
export function evaluationDeps(
  { appUrl, ruleOf }: EvaluationRules,
  counts: LivenessCounts,
): Pick<RunCheckDeps, "evaluate" | "firstEvents"> {
  return {
    firstEvents: (slugs) => counts.firstEvents(slugs),
    evaluate: (targets, { nowMs, ...round }) =>
      evaluateRound(
        targets.map(({ slug, thresholds }) => ({ ...ruleOf(slug), slug, thresholds, appUrl, nowMs })),
        counts,
        round,
      ),
  };
}

/** The configuration refuses the checks that would ask it. */
const noPlatform: PlatformSource = {
  forOrganization: (slug) => {
    throw new FlatlineError("internal", `nothing can be asked of the platform about "${slug}": its source is a table`);
  },
};

function sharedDeps(
  { appUrl, source: { observedKeys } }: Config,
  source: PlatformSource,
  { clock }: Pick<SourceDeps, "clock">,
): RunCheckDeps {
  return {
    source,
    clock,
    observedKeys,
    appUrl: (slug) => (appUrl === null ? null : appUrl.replaceAll("{slug}", encodeURIComponent(slug))),
  };
}

// A local evaluation takes milliseconds; one that takes this long waits for a disk that is not coming back.
const localRunTimeoutMs = 30_000;
const marginMs = 5_000;

/** flatline's own service over its store. */
export function createEmbeddedSource(
  config: Config,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): PlatformSource {
  return createLocalPlatformSource({
    store,
    clock,
    appUrl: config.appUrl,
    organizations: config.organizations.map(({ slug }) => slug),
  });
}

/** Creates the platform over the wire, with the key of each organization. */
export function createRemoteSource(
  { organizations }: Pick<Config, "organizations">,
  source: RemoteSourceConfig,
  deps: RemoteSourceDeps,
): PlatformSource {
  const keys = new Map(organizations.map(({ slug, apiKey }) => [slug, apiKey]));
  return createPlatformSource({
    baseUrl: source.baseUrl,
    apiKey: source.apiKey,
    apiKeyOf: (slug) => keys.get(slug) ?? null,
    timeoutMs: source.timeoutMs,
    retries: source.retries,
    userAgent: `flatline/${deps.version}`,
    observedKeys: Object.values(source.observedKeys),
    gate: createBodyGate({
      freeBytes: largeAnswerBytes,
      places: largeAnswersAtOnce,
      onEnter: holdHeap,
      onEmpty: releaseHeap,
    }),
    dispatcher: deps.dispatcher,
    clock: deps.clock,
    random: deps.random,
    onRequest: deps.onRequest,
    ...(deps.pauses === undefined ? {} : { pauses: deps.pauses }),
    ...(deps.onIgnoredFilter === undefined ? {} : { onIgnoredFilter: deps.onIgnoredFilter }),
  });
}
