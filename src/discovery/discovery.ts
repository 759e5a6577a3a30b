import { messageOf } from "../base/errors.ts";
import { createLoop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { minuteMs, secondMs } from "../base/time.ts";
import type { Config, DiscoverConfig } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import { compareLists, type DiscoverySource, type ListedOrganization } from "../contract/listed-organization.ts";
import type { Store } from "../store/store.ts";
import { placeOf, readSource, withDiscovered, type SourceDeps, type SourceList } from "./source.ts";

/** The configuration as its file says it, joined with what its sources list (CONTRACT 14). */
export type Discovery = ReturnType<typeof createDiscovery>;

export interface DiscoveryOptions extends Omit<SourceDeps, "signal" | "eventRetentionMs"> {
  readonly store: Pick<Store, "discovery" | "transaction">;
  readonly logger: Logger;
  /** Configuration at the start. */
  readonly config: Config;
  /** Applies the configuration that is read when its turn has come: not while another one is applied. */
  readonly apply: (read: () => Config) => Promise<void>;
}

interface State {
  /** Where the source was read from when it was last asked; another place is asked at once. */
  place: string;
  dueMs: number;
  refreshedAtMs: number | null;
  problem: string | null;
  /** The list that holds; null: none was ever applied. */
  list: readonly ListedOrganization[] | null;
  /** The last list that it gave, and its ETag. */
  last: SourceList | null;
  held: HeldList | null;
}

/** A list that is not applied by itself. */
interface HeldList {
  readonly reason: "empty" | "shrunk";
  readonly list: readonly ListedOrganization[];
  /** How many refreshes in a row gave these organizations. */
  readonly repeats: number;
}

// In a smaller source, half of the organizations is no sign of a fault.
const fewestRemoved = 5;
const neededRepeats = 3;
// Less than the shortest interval of a refresh.
const tickMs = secondMs;
// A row of the audit is read as a whole.
const slugsPerRow = 1_000;
// Enough names to see the change; the audit has all of them.
const namedInLog = 20;

/** Creates the discovery of `config`, at rest. */
export function createDiscovery({ config, apply, ...options }: DiscoveryOptions) {
  const { store, clock } = options;
  const logger = options.logger.child({ room: "discovery" });
  const onError = (error: unknown): void =>
    logger.debug({ err: error }, "lists could not be stored or applied, trying again");
  const loop = createLoop({ clock, everyMs: tickMs, runOnce: tick, onError });
  const states = new Map<string, State>();
  const underWay = new Map<string, Promise<void>>();
  let written = config;
  let isApplied = true;
  /** Names of the sources whose lists the store keeps, as one text. */
  let kept: string | null = null;

  async function stateOf({ name }: DiscoverConfig): Promise<State> {
    const known = states.get(name);
    if (known !== undefined) return known;
    const list = await store.discovery.list(name);
    const state = { place: "", dueMs: 0, refreshedAtMs: null, problem: null, list, last: null, held: null };
    states.set(name, state);
    return state;
  }

  /** Asks a source when that is due, and stores what changes. */
  async function refresh(source: DiscoverConfig): Promise<void> {
    const state = await stateOf(source);
    const place = placeOf(source);
    if (state.place !== place) Object.assign(state, { place, dueMs: 0, last: null });
    // Much later than the interval allows: that is shorter now.
    const nextMs = clock.monotonicMs() + source.refreshIntervalMs;
    if (clock.monotonicMs() < state.dueMs && state.dueMs <= nextMs) return;
    const { eventRetentionMs } = written.storage;
    const asked = { ...options, signal: loop.signal, eventRetentionMs };
    let problem: string | null = null;
    try {
      state.last = (await readSource(source, state.last?.etag ?? null, asked)) ?? state.last;
    } catch (error) {
      // A question that the end of the process cut off proves nothing against the source.
      if (loop.signal.aborted) return;
      problem = messageOf(error);
    }
    if (problem === null) await take(source.name, state);
    else noteProblem(source.name, state, problem);
    Object.assign(state, { problem, dueMs: nextMs, refreshedAtMs: clock.nowMs() });
  }

  function noteProblem(name: string, state: State, reason: string): void {
    if (reason !== state.problem)
      logger.warn({ source: name, reason }, "organizations were not discovered, the last good list holds");
    // The list still waits, but not for refreshes in a row.
    if (state.held !== null) state.held = { ...state.held, repeats: 0 };
  }

  /** Applies the last list, or holds it back. */
  async function take(name: string, state: State): Promise<void> {
    const offered = state.last?.organizations ?? [];
    const held = judge(state.list, offered, state.held);
    if (held !== null && held.repeats <= 1)
      logger.warn(
        { source: name, reason: held.reason, organizations: offered.length },
        "list is held back: it would remove too many organizations",
      );
    if (held === null && JSON.stringify(offered) !== JSON.stringify(state.list)) {
      await save(name, state.list ?? [], offered);
      state.list = offered;
      isApplied = false;
    }
    state.held = held;
  }

  /** Makes a list the one that holds, and writes down what that changes. */
  async function save(
    name: string,
    before: readonly ListedOrganization[],
    after: readonly ListedOrganization[],
  ): Promise<void> {
    const { added, removed, organizations } = compareLists(before, after);
    const act = { atMs: clock.nowMs(), actor: actor(name, "discovery"), action: "discovery.change" } as const;
    await store.transaction(async (parts) => {
      await parts.discovery.save(name, after);
      for (let from = 0; from < Math.max(added.length, removed.length); from += slugsPerRow) {
        const some = (slugs: readonly string[]) => slugs.slice(from, from + slugsPerRow);
        const detail = { organizations, added: some(added), removed: some(removed) };
        await parts.audit.append({ ...act, slug: null, subject: name, detail });
      }
    });
    const named = { addedSlugs: added.slice(0, namedInLog), removedSlugs: removed.slice(0, namedInLog) };
    const counts = { organizations, added: added.length, removed: removed.length };
    logger.info({ source: name, ...counts, ...named }, "discovered organizations changed");
  }

  function begin(source: DiscoverConfig): void {
    const { name } = source;
    if (underWay.has(name)) return;
    const ended = refresh(source)
      .catch(onError)
      .finally(() => underWay.delete(name));
    underWay.set(name, ended);
    // What it found is applied at once.
    void ended.then(() => !isApplied && loop.wake());
  }

  async function tick(): Promise<number> {
    const names = written.discover.map(({ name }) => name);
    if (kept !== names.join("\n")) {
      await store.discovery.keepOnly(names);
      for (const name of states.keys()) if (!names.includes(name)) states.delete(name);
      kept = names.join("\n");
    }
    for (const source of written.discover) begin(source);
    if (!isApplied) {
      isApplied = true;
      await apply(() => joined(written)).catch((error: unknown) => {
        isApplied = false;
        throw error;
      });
    }
    // A reload with a source wakes the loop.
    return names.length === 0 ? minuteMs : tickMs;
  }

  function joined(config: Config): Config {
    return withDiscovered(config, new Map([...states].map(([name, { list }]) => [name, list ?? []])));
  }

  return {
    /** Returns the whole configuration of this file; waits for the first list of a source that has none yet. */
    join: async (next: Config): Promise<Config> => {
      for (const source of next.discover) await stateOf(source);
      await Promise.all(next.discover.filter(({ name }) => states.get(name)?.list === null).map(refresh));
      return joined(next);
    },
    /** This file is applied. */
    settle: (applied: Config): void => {
      written = applied;
      loop.wake();
    },
    /** How each source stands, in the order of the file. */
    sources: (): readonly DiscoverySource[] =>
      written.discover.map(({ name }) => {
        const { list = null, refreshedAtMs = null, problem = null, held = null } = states.get(name) ?? {};
        const { added, removed } = compareLists(list ?? [], held?.list ?? []);
        return {
          name,
          up: refreshedAtMs !== null && problem === null,
          organizations: list?.length ?? 0,
          refreshedAtMs,
          problem,
          held: held === null ? null : { reason: held.reason, added: added.length, removed: removed.length },
        };
      }),
    start: (): void => {
      // What was found before was joined.
      isApplied = true;
      loop.start();
    },
    stop: async (): Promise<void> => {
      await loop.stop();
      await Promise.all(underWay.values());
    },
  };
}

/**
 * Decides whether a list is held back; null: it is applied. A source that forgets its customers must not end their checks: an
 * empty list after one that was not is never applied, and one that would remove more than half not until three refreshes in a
 * row gave the same organizations.
 */
function judge(
  list: readonly ListedOrganization[] | null,
  offered: readonly ListedOrganization[],
  held: HeldList | null,
): HeldList | null {
  if (list === null || list.length === 0) return null;
  const removed = compareLists(list, offered).removed.length;
  const isEmpty = offered.length === 0;
  if (!isEmpty && (removed < fewestRemoved || 2 * removed <= list.length)) return null;
  const change = compareLists(held?.list ?? [], offered);
  const repeats = held !== null && change.added.length + change.removed.length === 0 ? held.repeats + 1 : 1;
  return !isEmpty && repeats >= neededRepeats ? null : { reason: isEmpty ? "empty" : "shrunk", list: offered, repeats };
}
