import { createLoop } from "../base/loop.ts";
import { minuteMs, secondMs } from "../base/time.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import type { DiscoverConfig } from "../config/config.ts";
import type { DiscoveryState } from "../store/discovery/discovered-lists.ts";
import type { AppliedLists } from "./fleet.ts";
import { fingerprintOf, refreshSource, type RefreshDeps } from "./refresh.ts";

/** Keeps the fleet as its sources list it (CONTRACT 14). */
export interface Discovery {
  /** Reads the lists of these sources from the store; of a source that has none yet it waits for the first one. */
  prepare(sources: readonly DiscoverConfig[]): Promise<void>;
  /** The lists that hold, as far as they are known here. */
  lists(): AppliedLists;
  /** How a source stands; null: not read yet. */
  state(name: string): DiscoveryState | null;
  /** Reads the sources of the configuration again. */
  wake(): void;
  start(): void;
  stop(): Promise<void>;
}

export interface DiscoveryOptions extends Omit<RefreshDeps, "signal" | "eventRetentionMs"> {
  /** Returns the sources of the current configuration, at each look. */
  readonly sources: () => readonly DiscoverConfig[];
  readonly eventRetentionMs: () => number;
  /** Applies the lists, which are others than before. When it rejects it is called again. */
  readonly onChange: () => Promise<void>;
}

// Less than the shortest interval of a refresh.
const lookEveryMs = secondMs;
// Without a source there is nothing to look at; a reload with one wakes the loop.
const idleMs = minuteMs;

/** When the next refresh of a source is due. */
interface Turn {
  /** Hash of where the source was read from when it was last asked. */
  readonly fingerprint: string;
  readonly dueAtMs: number;
}

/** Discovery that is at rest. */
export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { store, clock, sources } = options;
  const logger = options.logger.child({ room: "discovery" });
  const loop = createLoop({ clock, everyMs: lookEveryMs, runOnce: look, onError: note });
  const states = new Map<string, DiscoveryState>();
  const lists = new Map<string, readonly ListedOrganization[]>();
  /** Digests of those in `lists`. */
  const known = new Map<string, string | null>();
  const turns = new Map<string, Turn>();
  const underWay = new Map<string, Promise<void>>();
  /** Names of the sources whose lists the store keeps, as one text. */
  let keptNames: string | null = null;
  let isApplied = true;

  /** Learns what the store has of these sources; answers whether a list is another than before. */
  async function follow(wanted: readonly DiscoverConfig[]): Promise<boolean> {
    let hasChanged = false;
    const stored = new Map((await store.discovery.states()).map((state) => [state.name, state]));
    for (const { name } of wanted) {
      const state = stored.get(name);
      if (state === undefined) continue;
      states.set(name, state);
      if (state.appliedDigest === (known.get(name) ?? null)) continue;
      lists.set(name, (await store.discovery.list(name, "applied")) ?? []);
      known.set(name, state.appliedDigest);
      hasChanged = true;
    }
    return hasChanged;
  }

  /** Asks the source when that is due. A source that is new here, or another than before, is asked at once. */
  async function takeTurn(source: DiscoverConfig): Promise<void> {
    const { name, refreshIntervalMs } = source;
    const fingerprint = fingerprintOf(source);
    const turn = turns.get(name);
    const isNew = turn?.fingerprint !== fingerprint;
    const nowMs = clock.nowMs();
    const nextAtMs = nowMs + refreshIntervalMs;
    // The turn is due much later than the interval allows: the clock was set back, or the interval is shorter now.
    if (!isNew && nowMs < turn.dueAtMs && turn.dueAtMs <= nextAtMs) return;
    turns.set(name, { fingerprint, dueAtMs: nextAtMs });
    const eventRetentionMs = options.eventRetentionMs();
    await refreshSource(source, { ...options, logger, signal: loop.signal, eventRetentionMs });
    loop.wake();
  }

  function begin(source: DiscoverConfig): void {
    const { name } = source;
    if (underWay.has(name)) return;
    const ended = takeTurn(source)
      .catch((error: unknown) =>
        logger.debug({ source: name, err: error }, "source could not be refreshed, trying again"),
      )
      .finally(() => underWay.delete(name));
    underWay.set(name, ended);
  }

  async function look(): Promise<number> {
    const wanted = sources();
    const names = wanted.map(({ name }) => name);
    if (keptNames !== names.join("\n")) {
      await store.discovery.keepOnly(names);
      for (const memory of [states, lists, known, turns])
        for (const name of memory.keys()) if (!names.includes(name)) memory.delete(name);
      keptNames = names.join("\n");
    }
    if (wanted.length === 0) return idleMs;
    for (const source of wanted) begin(source);
    if (await follow(wanted)) isApplied = false;
    if (!isApplied) await options.onChange();
    isApplied = true;
    return lookEveryMs;
  }

  function note(error: unknown): void {
    logger.debug({ err: error }, "lists could not be looked at, trying again");
  }

  return {
    prepare: async (wanted) => {
      isApplied = !(await follow(wanted)) && isApplied;
      const first = wanted.filter(({ name }) => !lists.has(name));
      await Promise.all(first.map(takeTurn));
      if (first.length > 0) isApplied = !(await follow(wanted)) && isApplied;
    },
    lists: () => lists,
    state: (name) => states.get(name) ?? null,
    wake: () => loop.wake(),
    start: () => {
      isApplied = true;
      loop.start();
    },
    stop: async () => {
      await loop.stop();
      await Promise.all(underWay.values());
    },
  };
}
