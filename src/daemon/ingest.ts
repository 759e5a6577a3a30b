import { minuteMs } from "../base/time.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { refusals } from "../contract/refusals.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { OpenPosts } from "../store/events/ingest-answers.ts";
import { RefusedEvents } from "../store/events/read.ts";
import { createEventIngest } from "../store/events/thread.ts";
import type { EventsPort } from "../web/ports/events.ts";
import { storeLocation, type PartsDeps } from "./parts.ts";

export interface Ingest extends EventsPort {
  close(): Promise<void>;
}

/** Takes posted events, in a worker thread. */
export function openIngest(
  config: Config,
  deps: PartsDeps & { readonly openPosts?: OpenPosts; readonly epoch: number; readonly logger: Logger },
  metrics: Pick<Metrics, "eventsIngested" | "eventsRefused">,
): Ingest {
  const ingest = createEventIngest({
    location: storeLocation(config, deps.cwd),
    epoch: deps.epoch,
    clock: deps.clock,
    ...(deps.openPosts === undefined ? {} : { openPosts: deps.openPosts }),
  });
  let unlogged = 0;
  let loggedAtMs = -Infinity;
  /** A shipper sends the same again and again: it has a line a minute. */
  function noteRefused({ refused, issues }: RefusedEvents): void {
    for (const reason of refusals) metrics.eventsRefused(reason, refused[reason] ?? 0);
    unlogged++;
    const nowMs = deps.clock.monotonicMs();
    if (nowMs - loggedAtMs < minuteMs) return;
    deps.logger.warn({ posts: unlogged, refused, example: issues[0] }, "posts of events are refused");
    loggedAtMs = nowMs;
    unlogged = 0;
  }

  return {
    ingest: async (body, { idempotencyKey, author, organizations }) => {
      const { storedByStatus, someConflicts, ...answer } = await ingest
        .ingest(body, { idempotencyKey, author, organizations })
        .catch((error: unknown) => {
          if (error instanceof RefusedEvents) noteRefused(error);
          throw error;
        });
      for (const [status, count] of Object.entries(storedByStatus)) metrics.eventsIngested(status, count);
      if (answer.conflicts > 0)
        deps.logger.warn(
          { conflicts: answer.conflicts, some: someConflicts },
          "posted events have ids that are stored with other content: they were left out",
        );
      return answer;
    },
    close: () => ingest.close(),
  };
}
