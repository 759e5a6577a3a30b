import { messageOf } from "../base/errors.ts";
import { createLoop, type Loop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import type { Config, DiscoverConfig } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import type { DiscoverySource, ListedOrganization } from "../contract/listed-organization.ts";
import type { Store } from "../store/store.ts";
import { readSource, withDiscovered, type SourceDeps, type SourceList } from "./source.ts";

/** The configuration as its file says it, joined with what its sources list (CONTRACT 14). */
export type Discovery = ReturnType<typeof createDiscovery>;

export interface DiscoveryOptions extends Omit<SourceDeps, "signal"> {
  readonly store: Pick<Store, "discovery" | "transaction">;
  readonly logger: Logger;
  /** Configuration at the start. */
  readonly config: Config;
  /** Calls `read` and applies its configuration, once no other one is being applied. */
  readonly apply: (read: () => Config) => Promise<void>;
}

interface State {
  /** Asks the source when it is due. Each has its own: a slow source delays no other. */
  readonly loop: Loop;
  /** Its configuration when it was last asked; with another one it is asked at once. */
  source: DiscoverConfig | null;
  dueMs: number;
  refreshedAtMs: number | null;
  problem: string | null;
  /** The list that holds; null: none was ever applied. */
  list: readonly ListedOrganization[] | null;
  /** The last list that it gave, and how many refreshes in a row gave these organizations. */
  last: SourceList | null;
  repeats: number;
}

// Fewer are no sign of a fault, even if they are more than half.
const fewestRemoved = 5;
const neededRepeats = 3;
// The pause after a list could not be stored or applied.
const retryMs = secondMs;
// Bounds a row of the audit, which is read as a whole.
const slugsPerRow = 1_000;
// Enough names to see the change; the audit has all of them.
const namedInLog = 20;

/** Creates the discovery of `config`, at rest. */
export function createDiscovery({ config, apply, ...options }: DiscoveryOptions) {
  const { store, clock } = options;
  const logger = options.logger.child({ room: "discovery" });
  const states = new Map<string, State>();
  let written = config;
  let isApplied = true;

  function onError(error: unknown): void {
    logger.debug({ err: error }, "lists could not be stored or applied, trying again");
  }

  async function stateOf({ name }: DiscoverConfig): Promise<State> {
    const known = states.get(name);
    if (known !== undefined) return known;
    const list = await store.discovery.list(name);
    const loop = createLoop({ clock, everyMs: retryMs, runOnce: () => turn(name), onError });
    const unasked = { source: null, dueMs: 0, refreshedAtMs: null, problem: null, last: null, repeats: 0 };
    const state = { ...unasked, loop, list };
    states.set(name, state);
    return state;
  }

  async function turn(name: string): Promise<number | void> {
    const source = written.discover.find((one) => one.name === name);
    if (source === undefined) return;
    const { dueMs } = await refresh(source);
    if (!isApplied) {
      isApplied = true;
      await apply(() => joined(written)).catch((error: unknown) => {
        isApplied = false;
        throw error;
      });
    }
    return Math.max(0, dueMs - clock.monotonicMs());
  }

  /** Asks a source when that is due, and stores what changes. */
  async function refresh(source: DiscoverConfig): Promise<State> {
    const { name } = source;
    const state = await stateOf(source);
    const { signal } = state.loop;
    if (state.source !== source) Object.assign(state, { source, dueMs: 0, last: null });
    if (clock.monotonicMs() < state.dueMs) return state;
    let problem: string | null = null;
    try {
      const known = { etag: state.last?.etag ?? null, eventRetentionMs: written.storage.eventRetentionMs };
      const given = (await readSource(source, known, { ...options, signal })) ?? state.last;
      state.repeats = given?.slugs === state.last?.slugs ? state.repeats + 1 : 1;
      state.last = given;
    } catch (error) {
      // A request that ends with the process says nothing about the source.
      if (signal.aborted) return state;
      problem = messageOf(error);
      state.repeats = 0;
      if (problem !== state.problem)
        logger.warn({ source: name, reason: problem }, "organizations were not discovered, the last good list holds");
    }
    if (problem === null) await take(name, state);
    const dueMs = clock.monotonicMs() + source.refreshIntervalMs;
    return Object.assign(state, { problem, dueMs, refreshedAtMs: clock.nowMs() });
  }

  /** Stores the last list, or holds it back: a shrunk one until three refreshes in a row gave the same slugs. */
  async function take(name: string, state: State): Promise<void> {
    const { list, last, repeats } = state;
    const offered = last?.organizations ?? [];
    const { added, removed, organizations, reason } = changeOf(state);
    if (reason === "empty" || (reason === "shrunk" && repeats < neededRepeats)) {
      if (repeats === 1)
        logger.warn(
          { source: name, reason, organizations },
          "list is held back: it would remove too many organizations",
        );
      return;
    }
    if (JSON.stringify(offered) === JSON.stringify(list)) return;
    const act = { atMs: clock.nowMs(), actor: actor(name, "discovery"), action: "discovery.change" } as const;
    await store.transaction(async (parts) => {
      await parts.discovery.save(name, offered);
      for (let from = 0; from < Math.max(added.length, removed.length); from += slugsPerRow) {
        const some = (slugs: readonly string[]) => slugs.slice(from, from + slugsPerRow);
        const detail = { organizations, added: some(added), removed: some(removed) };
        await parts.audit.append({ ...act, slug: null, subject: name, detail });
      }
    });
    const named = { addedSlugs: added.slice(0, namedInLog), removedSlugs: removed.slice(0, namedInLog) };
    const facts = { source: name, organizations, added: added.length, removed: removed.length, ...named };
    logger.info(facts, "discovered organizations changed");
    state.list = offered;
    isApplied = false;
  }

  function joined(config: Config): Config {
    return withDiscovered(config, new Map([...states].map(([name, { list }]) => [name, list ?? []])));
  }

  /** The file was applied: asks its sources, and forgets all others. */
  function settle(applied: Config): void {
    written = applied;
    const names = new Set(applied.discover.map(({ name }) => name));
    for (const [name, { loop }] of states)
      if (names.has(name)) {
        loop.start();
        loop.wake();
      } else {
        states.delete(name);
        void loop.stop();
      }
    void store.discovery.keepOnly([...names]).catch(onError);
  }

  return {
    /** Returns a file's configuration with discovered organizations; waits for the first list of each source. */
    join: async (next: Config): Promise<Config> => {
      const isUnlisted = async (source: DiscoverConfig) => (await stateOf(source)).list === null;
      await Promise.all(next.discover.map(async (source) => (await isUnlisted(source)) && refresh(source)));
      return joined(next);
    },
    settle,
    /** How each source stands, in the order of the file. */
    sources: (): readonly DiscoverySource[] =>
      written.discover.map(({ name }) => {
        const { list = null, last = null, refreshedAtMs = null, problem = null } = states.get(name) ?? {};
        const up = refreshedAtMs !== null && problem === null;
        const { added, removed, reason } = changeOf({ list, last });
        const held = reason && { reason, added: added.length, removed: removed.length };
        return { name, up, organizations: list?.length ?? 0, refreshedAtMs, problem, held };
      }),
    start: (): void => {
      // The configuration has the stored lists already.
      isApplied = true;
      settle(written);
    },
    stop: async (): Promise<void> => {
      await Promise.all([...states.values()].map(({ loop }) => loop.stop()));
    },
  };
}

/**
 * Returns what the last list would change, and why it is held back; null: it is not. A source that loses its customers
 * must not end their checks: an empty list is held back, and one that removes more than half and at least five.
 */
function changeOf({ list, last }: Pick<State, "list" | "last">) {
  const before = new Set(list?.map(({ slug }) => slug));
  const after = new Set(last?.organizations.map(({ slug }) => slug));
  const [added, removed] = [[...after.difference(before)], [...before.difference(after)]];
  const isShrunk = removed.length >= fewestRemoved && 2 * removed.length > before.size;
  const reason = after.size === 0 ? ("empty" as const) : isShrunk ? ("shrunk" as const) : null;
  return { added, removed, organizations: after.size, reason: last === null || before.size === 0 ? null : reason };
}
