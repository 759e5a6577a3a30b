import { join } from "node:path";

import { afterAll, beforeAll } from "vitest";

import type { App } from "../../../src/daemon/app.ts";
import { createSystemClock, hourMs, minuteMs } from "../../../src/base/time.ts";
import { alertListSchema } from "../../../src/contract/v1/alerts.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { freePort } from "../free-port.ts";
import { death } from "../store/event-store.ts";
import { makeProgramFolder } from "./program-folder.ts";
import { createTestApp } from "./test-app.ts";

/** A folder with a flatline.yaml and a store, for a daemon and the commands beside it. */
export interface DaemonFolder {
  readonly path: string;
  /** An address of its own for `server.listen`, and its URL. */
  readonly listen: string;
  readonly url: string;
  /** Writes flatline.yaml: the source is embedded, and the store beside it, where the text says nothing else. */
  configure(text: string): Promise<void>;
  /** Stores deaths of an organization: so many within the last hour, and so many a day over the week before. */
  addDeaths(slug: string, deaths: { readonly lastHour: number; readonly perDay: number }): Promise<void>;
  /** Works on the store, beside whoever has it open. */
  withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result>;
  /** A daemon of its own in this process, by flatline.yaml; stopped by `close`. */
  start(): Promise<App>;
  close(): Promise<void>;
}

const clock = createSystemClock();
const usual = { source: "{ type: embedded }", storage: "{ path: flatline.db }" };

/** One for all tests of the file, which goes with its daemons after them. */
export function useDaemonFolder(): DaemonFolder {
  const folder = {} as DaemonFolder;
  beforeAll(async () => void Object.assign(folder, await makeDaemonFolder()));
  afterAll(() => folder.close());
  return folder;
}

/** Makes an empty one under the system's temporary folder. */
export async function makeDaemonFolder(): Promise<DaemonFolder> {
  const folder = await makeProgramFolder();
  const { path } = folder;
  const listen = `127.0.0.1:${await freePort()}`;
  const apps: App[] = [];

  async function withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    const store = await openStore({ path: join(path, "flatline.db"), clock });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  return {
    path,
    listen,
    url: `http://${listen}`,
    configure: (text) => {
      const added = Object.entries(usual).flatMap(([key, value]) =>
        new RegExp(`^${key}:`, "m").test(text) ? [] : [`${key}: ${value}\n`],
      );
      return folder.write("flatline.yaml", [text.trimEnd(), "\n", ...added].join(""));
    },
    withStore,
    addDeaths: async (slug, { lastHour, perDay }) => {
      const nowMs = clock.nowMs();
      const deathsAt = (atMs: number, count: number) => death(atMs, slug, { assetType: "URL", count });
      const days = Array.from({ length: 7 }, (_, day) => deathsAt(nowMs - (day + 1) * 24 * hourMs - hourMs, perDay));
      const deaths = [...days, deathsAt(nowMs - minuteMs, lastHour)];
      await withStore((store) =>
        store.transaction(({ events }) => events.add(deaths.filter(({ count }) => count > 0))),
      );
    },
    start: async () => {
      const app = await createTestApp(path, { clock });
      await app.start();
      apps.push(app);
      return app;
    },
    close: async () => {
      for (const app of apps) await app.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export type LiveAlert = ReturnType<typeof alertListSchema.parse>["alerts"][number];

/** The live alerts, as a daemon lists them to the holder of a token. */
export async function listAlerts(url: string, token: string): Promise<readonly LiveAlert[]> {
  const answer = await fetch(`${url}/api/v1/alerts`, { headers: { authorization: `Bearer ${token}` } });
  return alertListSchema.parse(await answer.json()).alerts;
}

/** The first one of an organization. */
export async function alertOf(url: string, token: string, slug: string): Promise<LiveAlert> {
  const alert = (await listAlerts(url, token)).find((one) => one.slug === slug);
  if (alert === undefined) throw new Error(`no alert of ${slug}`);
  return alert;
}
