import type { Config } from "../config/config.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { OpenPosts } from "../store/events/ingest-answers.ts";
import { createEventIngest } from "../store/events/thread.ts";
import type { EventsPort } from "../web/ports/events.ts";
import { storeLocation, type PartsDeps } from "./parts.ts";

export interface Ingest extends EventsPort {
  close(): Promise<void>;
}

/** Takes posted events, in a worker thread. */
export function openIngest(
  config: Config,
  deps: PartsDeps & { readonly openPosts?: OpenPosts; readonly epoch: number },
  metrics: Pick<Metrics, "eventsIngested">,
): Ingest {
  const ingest = createEventIngest({
    location: storeLocation(config, deps.cwd),
    epoch: deps.epoch,
    clock: deps.clock,
    ...(deps.openPosts === undefined ? {} : { openPosts: deps.openPosts }),
  });
  return {
    ingest: async (body, { idempotencyKey, author, organizations }) => {
      const { storedByStatus, received, stored, duplicates } = await ingest.ingest(body, {
        idempotencyKey,
        author,
        organizations,
      });
      for (const [status, count] of Object.entries(storedByStatus)) metrics.eventsIngested(status, count);
      return { received, stored, duplicates };
    },
    close: () => ingest.close(),
  };
}
