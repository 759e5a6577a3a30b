import type { Config } from "../../config/config.ts";
import { createDiscovery, type DiscoveryOptions } from "../../discovery/discovery.ts";
import { withDiscovered } from "../../discovery/fleet.ts";
import type { FleetGauges } from "../../metrics/metrics.ts";

/** The configuration as its file says it, joined with what its discovery sources list (CONTRACT 14). */
export interface DiscoveredFleet {
  /** The whole configuration of this file; waits for the first list of a source that has none yet. */
  join(written: Config): Promise<Config>;
  /** This file is applied. */
  settle(written: Config): void;
  /** How each source stands; `organizations` are those that come from it. */
  gauges(applied: Pick<Config, "organizations">): FleetGauges["discovery"];
  start(): void;
  stop(): Promise<void>;
}

export interface DiscoveredFleetOptions extends Omit<DiscoveryOptions, "sources" | "eventRetentionMs" | "onChange"> {
  /** Configuration at the start. */
  readonly config: Config;
  /** Applies the configuration that is read when its turn has come: not while another one is applied. */
  readonly apply: (read: () => Config) => Promise<void>;
}

/** Creates the fleet of `config`, at rest. */
export function createDiscoveredFleet({ config, apply, ...options }: DiscoveredFleetOptions): DiscoveredFleet {
  let written = config;
  const discovery = createDiscovery({
    ...options,
    sources: () => written.discover,
    eventRetentionMs: () => written.storage.eventRetentionMs,
    onChange: () => apply(() => withDiscovered(written, discovery.lists())),
  });
  return {
    join: async (next) => {
      await discovery.prepare(next.discover);
      return withDiscovered(next, discovery.lists());
    },
    settle: (applied) => {
      written = applied;
      discovery.wake();
    },
    gauges: ({ organizations }) => {
      const counts = new Map<string, number>();
      for (const { discoveredBy } of organizations)
        if (discoveredBy !== null) counts.set(discoveredBy, (counts.get(discoveredBy) ?? 0) + 1);
      return written.discover.map(({ name }) => {
        const state = discovery.state(name);
        return {
          source: name,
          isUp: state !== null && state.problem === null,
          isHeld: (state?.held ?? null) !== null,
          organizations: counts.get(name) ?? 0,
        };
      });
    },
    start: () => discovery.start(),
    stop: () => discovery.stop(),
  };
}
