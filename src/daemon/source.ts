import { FlatlineError } from "../base/errors.ts";
import { createBodyGate } from "../base/http.ts";
import { holdHeap, releaseHeap } from "../base/heap-growth.ts";
import { createPlatformSource, type PlatformSourceOptions } from "../client/platform-source.ts";
import type { Config, RemoteSourceConfig, SourceConfig } from "../config/config.ts";
import type { PlatformSource } from "../contract/platform-api.ts";
import type { RunCheckDeps } from "../monitor/run-check.ts";
import type { SpikeRule } from "../service/local-evaluation.ts";
import { organizationUrl } from "../spike/evaluate.ts";
import type { Store } from "../store/store.ts";
import type { Ground } from "./ground.ts";
import type { Connections } from "./parts.ts";

// An answer has some kilobytes. Larger ones are read one by one: sixteen of 4 MiB at once are most of a daemon's memory.
const largeAnswerBytes = 128 * 1_024;

/** What a client of the platform is made with. */
export type RemoteSourceDeps = Pick<Ground, "clock" | "random" | "dispatcher" | "version"> &
  Pick<PlatformSourceOptions, "pauses" | "onIgnoredFilter"> & {
    readonly onRequest: (event: { readonly operation: string; readonly code: string }) => void;
  };

export interface SourceDeps extends Omit<RemoteSourceDeps, "pauses">, Connections, Pick<Ground, "logger"> {
  /** Asked by the embedded source; null with another one. */
  readonly store: Store | null;
  /** The last states of checks; null: runs do not follow each other. */
  readonly board: Pick<Ground["board"], "state"> | null;
  /** What evaluates; null with a remote source, which loads none of it. */
  readonly openLocal: OpenLocal | null;
}

/** Opens a source that evaluates itself (local-source.ts). */
export type OpenLocal = (
  config: Config,
  source: Extract<SourceConfig, { isLocal: true }>,
  deps: SourceDeps,
) => Omit<Source, "probeDeps">;

/** Everything that depends on the kind of source. */
export interface Source {
  readonly checkDeps: RunCheckDeps;
  /** For probes: what the platform answers them, as a pause, is no concern of the runs. */
  readonly probeDeps: RunCheckDeps;
  /** Bound of one run, all attempts and the waits between them included. */
  readonly runTimeoutMs: number;
}

/** Creates the source that evaluates by this configuration: the platform over the wire, or flatline itself. */
export function createSource(config: Config, deps: SourceDeps): Source {
  const { source } = config;
  if (source.isLocal) {
    if (deps.openLocal === null) throw new FlatlineError("internal", "a local source is wired without its room");
    const opened = deps.openLocal(config, source, deps);
    return { ...opened, probeDeps: opened.checkDeps };
  }
  const platform = (pauses: Connections["pauses"]) => createRemoteSource(config, source, { ...deps, pauses });
  return {
    checkDeps: sharedDeps(config, platform(deps.pauses), deps),
    probeDeps: sharedDeps(config, platform(deps.probePauses), deps),
    // Attempts may each take the timeout; a longer Retry-After ends the run anyway (CONTRACT 9, the client).
    runTimeoutMs: (2 * source.retries + 1) * source.timeoutMs + marginMs,
  };
}

/** Returns the rule of each organization: its own, or that of `defaults` where the file does not name it. */
export function ruleOf({
  organizations,
  defaults,
}: Pick<Config, "organizations" | "defaults">): (slug: string) => SpikeRule {
  const configured = new Map(organizations.map(({ slug, baseline, count }) => [slug, { baseline, count }]));
  return (slug) => configured.get(slug) ?? { baseline: defaults.baseline };
}

/** What a check is run with, whatever the source. */
export function sharedDeps(
  { appUrl, source: { observedKeys } }: Config,
  source: PlatformSource,
  { clock }: Pick<SourceDeps, "clock">,
): RunCheckDeps {
  return {
    source,
    clock,
    observedKeys,
    appUrl: (slug) => organizationUrl(appUrl, slug),
  };
}

/** Beyond the time that the attempts themselves may take. */
export const marginMs = 5_000;

/** Creates the platform over the wire, with the key of each organization. */
export function createRemoteSource(
  { organizations }: Pick<Config, "organizations">,
  source: RemoteSourceConfig,
  deps: RemoteSourceDeps,
): PlatformSource {
  const keys = new Map(organizations.map(({ slug, apiKey }) => [slug, apiKey]));
  return createPlatformSource({
    ...deps,
    baseUrl: source.baseUrl,
    apiKey: source.apiKey,
    apiKeyOf: (slug) => keys.get(slug) ?? null,
    timeoutMs: source.timeoutMs,
    retries: source.retries,
    userAgent: `flatline/${deps.version}`,
    observedKeys: Object.values(source.observedKeys),
    gate: createBodyGate(largeAnswerBytes, holdHeap, releaseHeap),
  });
}
