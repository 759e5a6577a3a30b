import type { Dispatcher } from "undici";
import { FlatlineError } from "../base/errors.ts";
import { createBodyGate } from "../base/body-gate.ts";
import { holdHeap, releaseHeap } from "../base/heap-growth.ts";
import type { Clock } from "../base/time.ts";
import { formatTraceparent, type Tracer } from "../base/trace.ts";
import { createPlatformSource, type PlatformSourceOptions } from "../client/platform-source.ts";
import type { PauseRegistry } from "../client/pauses.ts";
import type { Actor } from "../contract/actor.ts";
import type { Config, RemoteSourceConfig, SourceConfig } from "../config/config.ts";
import type { LivenessCounts } from "../contract/liveness-counts.ts";
import type { PlatformSource } from "../contract/platform-api.ts";
import { createLivenessChecks } from "../monitor/liveness-checks.ts";
import type { ReadFirstEvents, RunCheckDeps } from "../monitor/run-check.ts";
import { createLocalPlatformSource } from "../service/local-platform-source.ts";
import { createTablePlatformSource } from "../service/table-platform-source.ts";
import type { Store } from "../store/store.ts";
import { builtinSettings } from "../config/schema/organization.ts";
import { createSpikeEvidence, type SpikeEvidenceOptions } from "./evidence/spike.ts";
import { baselineOf, stretchesReader, withStretchesOf } from "./baselines.ts";
import type { TableCountsBook } from "./table-counts.ts";

// An answer has some kilobytes. Larger ones are read one by one: sixteen of 4 MiB at once are most of what a daemon takes.
const largeAnswerBytes = 128 * 1_024;
const largeAnswersAtOnce = 1;

export interface RemoteSourceDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly dispatcher: Dispatcher;
  readonly version: string;
  readonly onRequest: (event: { readonly operation: string; readonly code: string }) => void;
  /** Its current trace is passed on to the service [none is]. */
  readonly tracer?: Pick<Tracer, "current">;
  /** Of this process, over all its configurations [of the source alone]. */
  readonly pauses?: PauseRegistry;
  /** Called once per filter that the service seems to ignore, with its name. */
  readonly onIgnoredFilter?: NonNullable<PlatformSourceOptions["onIgnoredFilter"]>;
}

export interface SourceDeps extends RemoteSourceDeps {
  /** Asked by the embedded source, and for what leaves a baseline; null where neither is needed. */
  readonly store: Store | null;
  /** Asked by sources that read a table only. */
  readonly tables: TableCountsBook;
}

/** Creates the source that evaluates by this configuration: the platform over the wire, or flatline over its own store or the user's table. */
export function createSource(config: Config, deps: SourceDeps): PlatformSource {
  const { source } = config;
  if (source.type === "remote") return createRemoteSource(config, source, deps);
  if (source.type !== "embedded") {
    const counts = deps.tables.of(source, deps.onRequest);
    return createTablePlatformSource({
      counts: withStretchesOf(counts, config, deps.store),
      clock: deps.clock,
      appUrl: config.appUrl,
      baselineOf: baselineOf(config),
    });
  }
  return createEmbeddedSource(config, { store: storeOf(deps), clock: deps.clock });
}

/** flatline's own service over its store. */
export function createEmbeddedSource(
  config: Config,
  { store, clock, author }: { readonly store: Store; readonly clock: Clock; readonly author?: Actor },
): PlatformSource {
  return createLocalPlatformSource({
    store,
    clock,
    appUrl: config.appUrl,
    organizations: config.organizations.map(({ slug }) => slug),
    baselineOf: baselineOf(config),
    ...(author === undefined ? {} : { author }),
    ...stretchesReader(config, store),
  });
}

function storeOf({ store }: Pick<SourceDeps, "store">): Store {
  if (store === null) throw new FlatlineError("internal", "the embedded source is wired without its store");
  return store;
}

/** Creates the platform over the wire, with the key of each organization. */
export function createRemoteSource(
  { organizations }: Pick<Config, "organizations">,
  source: RemoteSourceConfig,
  deps: RemoteSourceDeps,
): PlatformSource {
  const { tracer } = deps;
  const traceparent = (): string | null => {
    const trace = tracer?.current() ?? null;
    return trace === null ? null : formatTraceparent(trace);
  };
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
    traceparent,
    ...(deps.pauses === undefined ? {} : { pauses: deps.pauses }),
    ...(deps.onIgnoredFilter === undefined ? {} : { onIgnoredFilter: deps.onIgnoredFilter }),
  });
}

/** Returns what run-check needs of the configuration and the source. */
export function runCheckDeps(
  config: Config,
  source: PlatformSource,
  deps: Pick<SourceDeps, "store" | "clock" | "tables" | "onRequest" | "version"> &
    Pick<SpikeEvidenceOptions, "logger" | "board">,
): RunCheckDeps {
  const { appUrl } = config;
  const shared = {
    source,
    clock: deps.clock,
    version: deps.version,
    observedKeys: config.source.observedKeys,
    appUrl: (slug: string) => (appUrl === null ? null : appUrl.replaceAll("{slug}", encodeURIComponent(slug))),
  };
  if (config.source.type === "remote") return shared;
  if (config.source.type !== "embedded") {
    const counts = deps.tables.of(config.source, deps.onRequest);
    const firstEvent = async (slug: string) => [slug, await counts.firstEventAtMs(slug)] as const;
    const firstEvents: ReadFirstEvents = async (slugs) => new Map(await Promise.all(slugs.map(firstEvent)));
    return counts.knowsFirstEvents ? { ...shared, firstEvents } : shared;
  }
  const store = storeOf(deps);
  const firstEventAtMs = (slug: string): Promise<number | null> => store.events.firstEventAtMs(slug);
  const livenessChecks = createLivenessChecks({
    liveness: store.liveness,
    firstEventAtMs,
    evidence: store.evidence,
  });
  const attributionDays = new Map(config.organizations.map((one) => [one.slug, one.attributionDays]));
  const evidence = createSpikeEvidence({
    ...deps,
    store,
    fleet: config.alerting.fleet,
    organizations: config.organizations.length,
    attributionDaysOf: (slug) => attributionDays.get(slug) ?? builtinSettings.attributionDays,
  });
  return { ...shared, firstEvents: (slugs) => store.events.firstEvents(slugs), livenessChecks, evidence };
}

/**
 * Bound of one run, all attempts and the waits between them included: attempts may each take the timeout, and a Retry-After
 * that is longer than the timeout ends the run anyway (CONTRACT 9, the client).
 */
export function runTimeoutMs(source: SourceConfig): number {
  if (source.type === "embedded") return localRunTimeoutMs;
  // Two queries, each of which may wait for one of its kind before it; the first event is not asked for each time.
  if (source.type !== "remote") return 2 * source.timeoutMs + marginMs;
  return (2 * source.retries + 1) * source.timeoutMs + marginMs;
}

// A local evaluation takes milliseconds; one that takes this long waits for a disk that is not coming back.
const localRunTimeoutMs = 30_000;
const marginMs = 5_000;

/** Returns the counts of a local source, where they are; null with a remote one, which counts itself. */
export function localCounts(
  config: Pick<Config, "source" | "organizations">,
  { tables, onRequest, ...deps }: Pick<SourceDeps, "store" | "tables" | "onRequest">,
): LivenessCounts | null {
  const { source } = config;
  if (source.type === "remote") return null;
  const counts = source.type === "embedded" ? storeOf(deps).events : tables.of(source, onRequest);
  return withStretchesOf(counts, config, deps.store);
}
