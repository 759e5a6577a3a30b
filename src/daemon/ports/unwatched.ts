import { createLoop, type Loop } from "../../base/loop.ts";
import type { Logger } from "../../base/logger.ts";
import { minuteMs, type Clock } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";
import type { Bounded, UnwatchedPort } from "../../web/ports/events.ts";
import type { Runtime } from "../runtime.ts";

/** The slugs that send events and are not configured: nothing checks them (CONTRACT 11). */
export interface Unwatched extends UnwatchedPort, Pick<Loop, "start" | "stop"> {}

export interface UnwatchedOptions {
  readonly store: Pick<Store, "events" | "evidence" | "liveness">;
  readonly runtime: Pick<Runtime, "current">;
  readonly clock: Clock;
  readonly logger: Logger;
}

// Reading the slugs of ten thousand organizations takes some milliseconds, and is needed when events have come. The page and
// the API look when they are asked.
const everyMs = minuteMs;
// What retention deletes changes no version; it is nothing to warn of.
const knownForMs = minuteMs;

// Who may post events may post any name: the log, the page and the API name so many, and count the rest.
const mostNamed = 1_000;

interface Look {
  readonly version: string;
  readonly configured: ReadonlySet<string>;
  readonly atMs: number;
  readonly slugs: readonly string[];
}

/** Over the stored events and the configuration that holds; with another source than the embedded one there are none. */
export function createUnwatched({ store, runtime, clock, logger }: UnwatchedOptions): Unwatched {
  const logged = new Set<string>();
  let last: Look | null = null;

  async function look(longestMs: number): Promise<readonly string[]> {
    const { config, slugs: configured } = runtime.current();
    if (!config.source.holdsEvents) return [];
    const version = await store.evidence.eventsVersion();
    const atMs = clock.monotonicMs();
    if (last !== null && last.version === version && last.configured === configured && atMs - last.atMs < longestMs)
      return last.slugs;
    const slugs = (await store.events.slugs()).filter((slug) => !configured.has(slug));
    last = { version, configured, atMs, slugs };
    for (const slug of slugs) {
      if (logged.has(slug) || logged.size === mostNamed) continue;
      logged.add(slug);
      logger.warn({ slug }, "events of an organization that is not configured are stored, nothing checks them");
      if (logged.size === mostNamed)
        logger.warn({ named: mostNamed }, "organizations that are not configured are no longer named here");
    }
    return slugs;
  }

  async function named(sees: (slug: string) => boolean): Promise<Bounded<string>> {
    const seen = (await look(knownForMs)).filter(sees);
    return { items: seen.slice(0, mostNamed), more: Math.max(0, seen.length - mostNamed) };
  }

  async function runOnce(): Promise<void> {
    await look(Infinity);
  }

  function note(error: unknown): void {
    logger.warn({ err: error }, "slugs of the stored events could not be read, trying again");
  }

  const { start, stop } = createLoop({ clock, everyMs, runOnce, onError: note });
  return {
    count: async () => (await look(knownForMs)).length,
    slugs: named,
    list: async (sees) => {
      const { items, more } = await named(sees);
      const listed = [];
      for (const slug of items) {
        const extent = await store.liveness.extent(slug);
        if (extent !== null) listed.push({ slug, ...extent });
      }
      return { items: listed, more };
    },
    start,
    stop,
  };
}
