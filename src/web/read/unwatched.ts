import { createLoop } from "../../base/loop.ts";
import { minuteMs } from "../../base/time.ts";
import type { Running } from "./running.ts";

/** The slugs that send events and are not configured: nothing checks them (CONTRACT 11). */
export type Unwatched = ReturnType<typeof createUnwatched>;

/** What of it is read. */
export type UnwatchedReading = Omit<Unwatched, "start" | "stop">;

// Reading the slugs of ten thousand organizations takes some milliseconds, and is needed when events have come.
const everyMs = minuteMs;

/** Who may post events may post any name: the log, the page and the API name so many. */
export const mostNamed = 1_000;

/** Returns them over the stored events and the configuration that holds; with another source than the embedded one there are none. */
export function createUnwatched(
  { store, clock, logger }: Pick<Running, "store" | "clock" | "logger">,
  configured: () => { readonly holdsEvents: boolean; readonly slugs: ReadonlySet<string> },
) {
  const logged = new Set<string>();
  let last = { version: "", known: new Set() as ReadonlySet<string>, untilMs: 0, slugs: [] as readonly string[] };

  async function look(): Promise<readonly string[]> {
    const { holdsEvents, slugs: known } = configured();
    if (!holdsEvents) return [];
    const version = await store.evidence.eventsVersion();
    const nowMs = clock.monotonicMs();
    // What retention deletes changes no version.
    if (last.version === version && last.known === known && nowMs < last.untilMs) return last.slugs;
    const slugs = (await store.events.slugs()).filter((slug) => !known.has(slug));
    last = { version, known, untilMs: nowMs + everyMs, slugs };
    for (const slug of slugs) {
      if (logged.has(slug) || logged.size >= mostNamed) continue;
      logged.add(slug);
      logger.warn({ slug }, "events of an organization that is not configured are stored, nothing checks them");
    }
    return slugs;
  }

  const { start, stop } = createLoop({
    clock,
    everyMs,
    runOnce: async () => void (await look()),
    onError: (error) => logger.warn({ err: error }, "slugs of the stored events could not be read, trying again"),
  });
  return {
    /** All of their names. */
    slugs: look,
    /** The first of them, with their events of any status. */
    list: async () => {
      const listed = [];
      for (const slug of (await look()).slice(0, mostNamed)) {
        const extent = await store.liveness.extent(slug);
        if (extent !== null) listed.push({ slug, ...extent });
      }
      return listed;
    },
    start,
    stop,
  };
}
