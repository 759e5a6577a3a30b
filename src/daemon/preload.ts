import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { Config, PreloadConfig } from "../config/config.ts";
import { readFixtureText } from "../config/document/files.ts";
import { importFixtures } from "../service/fixture/fixture.ts";
import { importEvents } from "../store/events/import.ts";
import { storeTarget } from "../store/events/imports.ts";
import { plainLayout, usualTimes } from "../store/events/layout.ts";
import type { Store } from "../store/store.ts";

export interface PreloadDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gives it up [never]. */
  readonly signal?: AbortSignal;
}

/**
 * Imports `source.preload` into an empty store, so that a first start has something to look at (CONTRACT 4): events when there
 * is none, fixtures when there is no organization, so that a start that was cut short is made up for by the next.
 */
export async function preload(config: Config, deps: PreloadDeps): Promise<void> {
  const { source } = config;
  if (!source.holdsEvents || source.preload.length === 0) return;
  const isEmpty = {
    events: await deps.store.events.isEmpty(),
    fixture: (await deps.store.platform.organizations.slugs()).length === 0,
  };
  const configured = config.organizations.map(({ slug }) => slug);
  for (const entry of source.preload)
    if (isEmpty["events" in entry ? "events" : "fixture"]) await preloadOne(entry, configured, deps);
}

async function preloadOne(
  entry: PreloadConfig,
  configured: readonly string[],
  { store, clock, logger, signal = new AbortController().signal }: PreloadDeps,
): Promise<void> {
  if ("fixture" in entry) {
    const file = entry.fixture;
    const files = [{ name: file, text: await readFixtureText(file, file) }];
    const { reports, organizations } = await importFixtures({ store, clock, files, configured });
    logger.info({ file, reports, organizations }, "fixture preloaded");
    return;
  }
  const { received, slugs } = await importEvents({
    target: storeTarget(store, clock),
    files: [entry.events],
    rebaseToMs: entry.rebase === false ? null : clock.nowMs() + (entry.rebase === true ? 0 : entry.rebase),
    layout: { ...plainLayout, times: usualTimes(clock.nowMs(), entry.rebase !== false) },
    signal,
  });
  logger.info({ file: entry.events, events: received, organizations: slugs }, "events preloaded");
}
