import type { IngestOutcome } from "../../store/events/events.ts";
import type { PostOutcome } from "../../store/events/posts.ts";

export interface EventsPort {
  /**
   * Stores all events of the body, lines or an array, or none. Stops reading when `body` throws, and rejects with what it threw.
   * @throws FlatlineError invalid_data (issues name lines), conflict (the key was used for another body), store_busy
   */
  ingest(
    body: AsyncIterable<Uint8Array>,
    options: {
      readonly idempotencyKey: string | null;
      /** Who posts: the key counts for that one alone. */
      readonly author: string;
      /** The patterns of the slugs that the author may post of; null: all. */
      readonly organizations: readonly string[] | null;
    },
  ): Promise<IngestOutcome & Pick<PostOutcome, "otherStatuses">>;
}
