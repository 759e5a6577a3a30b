import type { Config } from "../config/config.ts";
import { readFixtureText } from "../config/document/files.ts";
import { importFixtures } from "../service/fixture/fixture.ts";
import { importEvents } from "../store/events/import.ts";
import { storeTarget } from "../store/events/imports.ts";
import { plainLayout, usualTimes } from "../store/events/layout.ts";
import type { Ground } from "./ground.ts";

/**
 * Imports `source.preload` into an empty store (CONTRACT 4): events when it has none, fixtures when it has no
 * organization. The next start completes one that was cut short.
 */
export async function preload(
  { source, organizations }: Config,
  { store, clock, logger, signal }: Pick<Ground, "store" | "clock" | "logger" | "signal">,
): Promise<void> {
  if (!source.holdsEvents || source.preload.length === 0) return;
  const isEmpty = {
    events: await store.events.isEmpty(),
    fixture: (await store.platform.organizations.slugs()).length === 0,
  };
  const configured = organizations.map(({ slug }) => slug);
  for (const entry of source.preload) {
    if ("fixture" in entry) {
      if (!isEmpty.fixture) continue;
      const file = entry.fixture;
      const files = [{ name: file, text: await readFixtureText(file, file) }];
      const counts = await importFixtures({ store, clock, files, configured });
      logger.info({ file, reports: counts.reports, organizations: counts.organizations }, "fixture preloaded");
    } else if (isEmpty.events) {
      const { events: file, rebase } = entry;
      const { received, slugs } = await importEvents({
        target: storeTarget(store, clock),
        files: [file],
        rebaseTo: rebase === false ? null : () => clock.nowMs() + (rebase === true ? 0 : rebase),
        layout: { ...plainLayout, times: usualTimes(clock.nowMs(), rebase !== false) },
        signal,
      });
      logger.info({ file, events: received, organizations: slugs }, "events preloaded");
    }
  }
}
