import { FlatlineError } from "../base/errors.ts";
import { createBodyGate } from "../base/http.ts";
import { holdHeap, releaseHeap } from "../base/heap-growth.ts";
import { createPlatformSource, type PlatformSourceOptions } from "../client/platform-source.ts";
import type { Config, RemoteSourceConfig, SourceConfig } from "../config/config.ts";
import type { PlatformSource } from "../contract/platform-api.ts";
import type { RunCheckDeps } from "../monitor/run-check.ts";
import { organizationUrl, spikeRuleOf, type SpikeRule } from "../spike/evaluate.ts";
import type { Store } from "../store/store.ts";
import type { Ground } from "./ground.ts";
import type { Connections } from "./parts.ts";

// An answer has some kilobytes. Larger ones are read one at a time: sixteen of 4 MiB would fill a daemon's memory.
const largeAnswerBytes = 128 * 1_024;

export type RemoteSourceDeps = Pick<Ground, "clock" | "random" | "dispatcher" | "version"> &
  Pick<PlatformSourceOptions, "pauses" | "onIgnoredFilter"> & {
    readonly onRequest: (event: { readonly operation: string; readonly code: string }) => void;
  };

export interface SourceDeps extends Omit<RemoteSourceDeps, "pauses">, Connections, Pick<Ground, "logger"> {
  /** null: the source is not embedded. */
  readonly store: Store | null;
  /** The last states of checks; null: single runs. */
  readonly board: Pick<Ground["board"], "state"> | null;
  /** null: the source is remote. */
  readonly openLocal: OpenLocal | null;
}

/** Opens a source that flatline evaluates (local-source.ts). */
export type OpenLocal = (
  config: Config,
  source: Extract<SourceConfig, { isLocal: true }>,
  deps: SourceDeps,
) => Omit<Source, "probeDeps">;

export interface Source {
  readonly checkDeps: RunCheckDeps;
  /** For probes: a pause that the platform asks of them does not pause runs. */
  readonly probeDeps: RunCheckDeps;
  /** Bound of one run with all attempts and the waits between them. */
  readonly runTimeoutMs: number;
}

/** Creates the source of this configuration: the platform over HTTP, or flatline itself. */
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
    // Each attempt and each wait may take the timeout; a longer Retry-After ends the run (CONTRACT 9, the client).
    runTimeoutMs: (2 * source.retries + 1) * source.timeoutMs + marginMs,
  };
}

/** Returns the rule of each organization; one that is not configured has that of `defaults`. */
export function ruleOf({
  organizations,
  defaults,
}: Pick<Config, "organizations" | "defaults">): (slug: string) => SpikeRule {
  const configured = new Map(organizations.map((one) => [one.slug, spikeRuleOf(one)]));
  return (slug) => configured.get(slug) ?? spikeRuleOf(defaults);
}

/** Returns the dependencies of a run that every source needs. */
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

/** Added to the time that the attempts may take. */
export const marginMs = 5_000;

/** Creates the platform over HTTP, with the key of each organization. */
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
