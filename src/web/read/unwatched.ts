import { createLoop } from "../../base/loop.ts";
import { minuteMs } from "../../base/time.ts";
import type { Running } from "./running.ts";

/** An organization that sends events and is not configured. */
export interface UnwatchedSlug {
  readonly slug: string;
  /** Stored ones, of any status. */
  readonly events: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** The first 1,000 of a list, by name, and how many there are beyond. */
export interface Bounded<Item> {
  readonly items: readonly Item[];
  readonly more: number;
}

/** The slugs that send events and are not configured: nothing checks them (CONTRACT 11). */
export type Unwatched = ReturnType<typeof createUnwatched>;

/** What of it is read. */
export type UnwatchedReading = Omit<Unwatched, "start" | "stop">;

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

/** Returns them over the stored events and the configuration that holds; with another source than the embedded one there are none. */
export function createUnwatched(
  { store, clock, logger }: Pick<Running, "store" | "clock" | "logger">,
  configured: () => { readonly holdsEvents: boolean; readonly slugs: ReadonlySet<string> },
) {
  const logged = new Set<string>();
  let last: Look | null = null;

  async function look(longestMs: number): Promise<readonly string[]> {
    const { holdsEvents, slugs: known } = configured();
    if (!holdsEvents) return [];
    const version = await store.evidence.eventsVersion();
    const atMs = clock.monotonicMs();
    if (last !== null && last.version === version && last.configured === known && atMs - last.atMs < longestMs)
      return last.slugs;
    const slugs = (await store.events.slugs()).filter((slug) => !known.has(slug));
    last = { version, configured: known, atMs, slugs };
    for (const slug of slugs) {
      if (logged.has(slug) || logged.size === mostNamed) continue;
      logged.add(slug);
      logger.warn({ slug }, "events of an organization that is not configured are stored, nothing checks them");
      if (logged.size === mostNamed)
        logger.warn({ named: mostNamed }, "organizations that are not configured are no longer named here");
    }
    return slugs;
  }

  async function named(): Promise<Bounded<string>> {
    const all = await look(knownForMs);
    return { items: all.slice(0, mostNamed), more: Math.max(0, all.length - mostNamed) };
  }

  async function runOnce(): Promise<void> {
    await look(Infinity);
  }

  function note(error: unknown): void {
    logger.warn({ err: error }, "slugs of the stored events could not be read, trying again");
  }

  const { start, stop } = createLoop({ clock, everyMs, runOnce, onError: note });
  return {
    /** How many there are. */
    count: async () => (await look(knownForMs)).length,
    /** Their names alone. */
    slugs: named,
    list: async (): Promise<Bounded<UnwatchedSlug>> => {
      const { items, more } = await named();
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
