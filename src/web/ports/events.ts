import type { IngestOutcome } from "../../store/events/events.ts";

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

export interface UnwatchedPort {
  /** How many there are. */
  count(): Promise<number>;
  /** Their names alone, of those that the reader may see. */
  slugs(sees: (slug: string) => boolean): Promise<Bounded<string>>;
  list(sees: (slug: string) => boolean): Promise<Bounded<UnwatchedSlug>>;
}

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
  ): Promise<IngestOutcome>;
}
