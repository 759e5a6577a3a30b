import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach } from "vitest";

import type { Clock } from "../../../src/base/time.ts";
import type { Store, StoreLocation } from "../../../src/store/store.ts";
import { openStore } from "../../../src/store/open.ts";
import { createDatabase } from "../postgres/postgres.ts";
import { isTested } from "../tier.ts";

/** A database of its own, to which several processes' stores can be opened. */
export interface StorePlace {
  readonly location: StoreLocation;
  /** Opens the store once more, as another process would. `remove` closes it. */
  open(clock: Clock): Promise<Store>;
  /** In which the store that was opened last writes. */
  epoch(): number;
  remove(): Promise<void>;
}

/** A store in a database of its own, which `close` removes. */
export interface OpenedStore {
  readonly store: Store;
  readonly close: () => Promise<void>;
}

/** One engine of the store, as a row for `describe.each`. */
export interface StoreEngineCase<Engine = "SQLite" | "PostgreSQL"> {
  readonly engine: Engine;
  readonly makePlace: () => Promise<StorePlace>;
  /** A place with one store in it. */
  readonly openTemporary: (clock: Clock) => Promise<OpenedStore>;
  /** Opens a place with one store in it before each test of the block, and closes it after it. */
  readonly useStore: (makeClock: () => Clock) => Pick<OpenedStore, "store">;
}

function engineCase<Engine>(
  engine: Engine,
  make: () => Promise<Made>,
  options: { readonly mostCells?: number } = {},
): StoreEngineCase<Engine> {
  async function makePlace(): Promise<StorePlace> {
    const { location, remove } = await make();
    const opened: Store[] = [];
    let epoch = 0;
    return {
      location,
      epoch: () => epoch,
      open: async (clock) => {
        const store = await openStore({ ...location, ...options, clock });
        opened.push(store);
        // A file takes writes of every connection.
        if ("url" in location) ({ epoch } = await store.takeWriter());
        return store;
      },
      remove: async () => {
        for (const store of opened) await store.close();
        await remove();
      },
    };
  }
  async function openTemporary(clock: Clock): Promise<OpenedStore> {
    const place = await makePlace();
    return { store: await place.open(clock), close: () => place.remove() };
  }
  return {
    engine,
    makePlace,
    openTemporary,
    useStore: (makeClock) => {
      const opened = {} as OpenedStore;
      beforeEach(async () => void Object.assign(opened, await openTemporary(makeClock())));
      afterEach(() => opened.close());
      return opened;
    },
  };
}

interface Made {
  readonly location: StoreLocation;
  readonly remove: () => Promise<void>;
}

async function makeFile(): Promise<Made> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-store-"));
  return {
    location: { path: join(folder, "flatline.db") },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const engines: readonly StoreEngineCase[] = [
  engineCase("SQLite", makeFile),
  engineCase("PostgreSQL", async () => {
    const { url, drop } = await createDatabase();
    return { location: { url, poolSize: 4 }, remove: drop };
  }),
];

/**
 * The engines that this tier of the tests is about (`*.engines.test.ts`: SQLite in `npm test`, PostgreSQL in CI), each
 * real: `describe.each(storeEngines)("the outbox on $engine", ({ openTemporary }) => …)`. What a test of the store says
 * must hold on each of them.
 */
export const storeEngines: readonly StoreEngineCase[] = engines.filter(({ engine }) => isTested(engine));

/** The same for what is counted, and SQLite without what makes its counts fast: the counts must be the same. */
export const countingEngines: readonly StoreEngineCase<string>[] = isTested("SQLite")
  ? [...storeEngines, engineCase("SQLite without counts in memory", makeFile, { mostCells: 0 })]
  : storeEngines;

/** One engine by its name, whichever the tier is about. */
export function engineNamed(name: StoreEngineCase["engine"]): StoreEngineCase {
  const found = engines.find(({ engine }) => engine === name);
  if (found === undefined) throw new Error(`there is no engine ${name}`);
  return found;
}
