import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { Config, PreloadConfig } from "../config/config.ts";
import { importEvents } from "../store/event-import.ts";
import type { Store } from "../store/store.ts";

export interface PreloadDeps {
  readonly store: Store;
  /** Of the store's database file. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Imports `source.preload` into a store without events, so that a first start has something to look at (CONTRACT 4). */
export async function preload(config: Config, deps: PreloadDeps): Promise<void> {
  const { source } = config;
  if (source.type !== "embedded" || source.preload.length === 0) return;
  if (!(await deps.store.events.isEmpty())) return;
  for (const entry of source.preload) await preloadOne(entry, deps);
}

async function preloadOne(entry: PreloadConfig, { path, clock, logger }: PreloadDeps): Promise<void> {
  if (entry.kind === "fixture") return;
  const { received, slugs } = await importEvents({
    databasePath: path,
    files: [entry.path],
    rebaseToMs: entry.rebase ? clock.nowMs() : null,
    again: true,
    signal: new AbortController().signal,
    clock,
  });
  logger.info({ file: entry.path, events: received, organizations: slugs }, "events preloaded");
}
