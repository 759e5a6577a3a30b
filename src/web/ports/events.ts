import type { Actor } from "../../contract/actor.ts";
import type { ImportAnswer, ImportPlan } from "../../store/events/import.ts";
import type { ImportRow } from "../../store/events/imports.ts";
import type { RefusedPosts } from "../../words/events-in.ts";

/** Who sends events. */
export interface EventAuthor {
  readonly actor: Actor;
  /** The patterns of the slugs of which they may be; null: all. */
  readonly organizations: readonly string[] | null;
}

/** What became of the events of a body. */
export interface IngestOutcome extends Omit<ImportAnswer, "someConflicts"> {
  /** Received events by their status, where that is neither a death nor a sign of life. */
  readonly otherStatuses: Readonly<Record<string, number>>;
}

export interface EventsPort {
  /**
   * Stores the events of a body, lines or an array, when all of it is checked. Stops reading when `body` throws, and rejects with
   * what it threw.
   * @throws FlatlineError invalid_data (issues name lines), forbidden, unavailable, store_*
   */
  ingest(body: AsyncIterable<Uint8Array>, author: EventAuthor): Promise<IngestOutcome>;
  /** Begins an import. */
  begin(plan: ImportPlan, author: EventAuthor): Promise<number>;
  /** Stores some events of an import. @throws not_found for one that has not begun, and as `ingest` */
  addBody(id: number, body: AsyncIterable<Uint8Array>, author: EventAuthor): Promise<ImportAnswer>;
  /** Ends an import whose events are all stored. @throws not_found */
  end(id: number, author: EventAuthor): Promise<void>;
  /** Imports that have begun and not ended, and whether each is running. */
  imports(): readonly (ImportRow & { readonly isRunning: boolean })[];
  /** Posts that are refused, while that goes on. */
  refused(): RefusedPosts | null;
}
