import { sql } from "kysely";
import { noType } from "../../../contract/assets.ts";
import { storedAttributes } from "../input/attributes.ts";
import { eventNumbers } from "./names.ts";
import { EventRows } from "./rows.ts";
import { directImportId } from "../sqlite/writer.ts";
import type { IngestOutcome, LivenessEvent } from "../events.ts";
import { inTransaction } from "../../engine/in-transaction.ts";
import type { PlainDb } from "../../schema.ts";

/**
 * Stores a few events on PostgreSQL; the first event with an id wins, also against concurrent transactions. Uses the
 * surrounding transaction if there is one.
 */
export async function addEventsInPostgres(
  db: PlainDb,
  events: readonly LivenessEvent[],
  receivedAtMs: number | null,
): Promise<IngestOutcome> {
  const numbers = await eventNumbers(db, events);
  const firstOrdinal = await takeOrdinals(db, events.length);
  const rows = new EventRows();
  for (const [index, event] of events.entries()) {
    const { slug, atMs, assetType, asset, status, id, count } = event;
    const attributes = storedAttributes(event.attributes);
    rows.add({
      slugId: numbers.slugs.get(slug) ?? 0,
      atMs,
      ordinal: firstOrdinal + index,
      typeId: assetType === null ? noType : (numbers.assetTypes.get(assetType) ?? noType),
      statusId: numbers.statuses.get(status) ?? 0,
      count,
      asset,
      id,
      attributeSetId: attributes === null ? null : (numbers.attributes.get(attributes) ?? null),
    });
  }
  const work = async (transaction: PlainDb): Promise<number> => {
    if (events.length > 0 && receivedAtMs !== null) await noteReceipt(transaction, firstOrdinal, receivedAtMs);
    const stored = await rows.insert(transaction, directImportId);
    await noteWrite(transaction);
    return [...stored.values()].reduce((sum, count) => sum + count, 0);
  };
  const stored = await inTransaction(db, work, "latest");
  return { received: events.length, stored, duplicates: events.length - stored };
}

/**
 * Reserves ordinals for posted events and returns the first one. Runs before the transaction that uses them, so that other
 * posts need not wait for its end; unused ordinals leave a gap.
 */
export async function takeOrdinals(db: PlainDb, events: number): Promise<number> {
  const { rows } = await sql<{ next_ordinal: number }>`
    UPDATE event_imports SET next_ordinal = next_ordinal + ${events} WHERE import_id = ${directImportId}
    RETURNING next_ordinal`.execute(db);
  return (rows[0]?.next_ordinal ?? 0) - events;
}

/** Records the arrival of posted rows; imported rows arrive when their import ends. */
export async function noteReceipt(db: PlainDb, firstOrdinal: number, receivedAtMs: number): Promise<void> {
  await sql`INSERT INTO event_receipts (first_ordinal, received_at_ms) VALUES (${firstOrdinal}, ${receivedAtMs})`.execute(
    db,
  );
}

/**
 * Advances the next ordinal, last in a transaction that stores events: readers detect new events by it, so it must not
 * change before they are visible.
 */
export async function noteWrite(db: PlainDb): Promise<void> {
  await sql`UPDATE event_imports SET next_ordinal = next_ordinal + 1 WHERE import_id = ${directImportId}`.execute(db);
}
