import { createLoop } from "../../base/loop.ts";
import { minuteMs } from "../../base/time.ts";
import type { Running } from "./running.ts";

/** The slugs that send events and are not configured (CONTRACT 11). */
export type UnwatchedReading = Omit<ReturnType<typeof createUnwatched>, "start" | "stop">;

// Reading the slugs of ten thousand organizations takes some milliseconds.
const everyMs = minuteMs;

/** Anyone who may post events can post any slug: log, page and API name at most these. */
export const mostNamed = 1_000;

/** Reads unwatched slugs from the stored events; only an embedded source has any. */
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
    // Retention deletes slugs without a new version.
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
    /** All slugs. */
    slugs: look,
    /** The first slugs, with their events. */
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
