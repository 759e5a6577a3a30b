import { sql } from "kysely";
import { hourMs, minuteMs } from "../../../base/time.ts";
import { noType } from "../../../contract/assets.ts";
import { storedAttributes } from "../input/attributes.ts";
import { hashId } from "./block.ts";
import { noteStoreChange } from "./changes.ts";
import { deadStatus } from "../input/fields.ts";
import { directImportId } from "./writer.ts";
import type { IngestOutcome, LivenessEvent } from "../events.ts";
import type { PlainDb } from "../../schema.ts";

/**
 * Stores a few events through Kysely in the surrounding transaction, by the rules of EventWriter: the first event with an id
 * wins.
 */
export async function addEvents(
  db: PlainDb,
  events: readonly LivenessEvent[],
  receivedAtMs: number | null,
): Promise<IngestOutcome> {
  const counter = await sql<{ next_ordinal: number }>`
    UPDATE event_imports SET next_ordinal = next_ordinal + ${events.length} WHERE import_id = ${directImportId}
    RETURNING next_ordinal`.execute(db);
  let ordinal = (counter.rows[0]?.next_ordinal ?? 0) - events.length;
  if (events.length > 0 && receivedAtMs !== null) {
    await sql`
      INSERT INTO event_receipts (first_ordinal, received_at_ms) VALUES (${ordinal}, ${receivedAtMs})`.execute(db);
  }
  let stored = 0;
  const cells: number[] = [];
  for (const event of events) if (await addEvent(db, event, ordinal++, cells)) stored++;
  await noteStoreChange(db, { kind: "added", detail: cells });
  return { received: events.length, stored, duplicates: events.length - stored };
}

async function addEvent(db: PlainDb, event: LivenessEvent, ordinal: number, cells: number[]): Promise<boolean> {
  const { atMs, count, asset, id } = event;
  const slugId = await numberOf(db, "event_slugs", "slug_id", "slug", event.slug);
  if (id !== null && !(await claimId(db, slugId, id, ordinal, atMs))) return false;
  const typeId =
    event.assetType === null
      ? noType
      : await numberOf(db, "event_asset_types", "type_id", "asset_type", event.assetType);
  const statusId = await numberOf(db, "event_statuses", "status_id", "status", event.status);
  const attributes = storedAttributes(event.attributes);
  const setId =
    attributes === null
      ? null
      : await numberOf(db, "event_attribute_sets", "attribute_set_id", "attributes", attributes);
  await sql`
    INSERT INTO events (slug_id, at_ms, import_id, ordinal, type_id, status_id, count, asset, id, attribute_set_id)
    VALUES (${slugId}, ${atMs}, ${directImportId}, ${ordinal}, ${typeId}, ${statusId}, ${count}, ${asset}, ${id}, ${setId})`.execute(
    db,
  );
  if (event.status !== deadStatus || count === 0) return true;
  cells.push(slugId, Math.floor(atMs / minuteMs), typeId, count);
  for (const [table, span, spanMs] of [
    ["event_minutes", "minute", minuteMs],
    ["event_hours", "hour", hourMs],
  ] as const) {
    await sql`
      INSERT INTO ${sql.table(table)} (slug_id, ${sql.ref(span)}, type_id, import_id, deaths)
      VALUES (${slugId}, ${Math.floor(atMs / spanMs)}, ${typeId}, ${directImportId}, ${count})
      ON CONFLICT DO UPDATE SET deaths = deaths + excluded.deaths`.execute(db);
  }
  return true;
}

/** Records the id; returns false if a stored event has it. */
async function claimId(db: PlainDb, slugId: number, id: string, ordinal: number, atMs: number): Promise<boolean> {
  const bytes = Buffer.from(id);
  const hash = hashId(bytes, 0, bytes.length);
  const same = await sql`
    SELECT 1 FROM event_ids JOIN events USING (slug_id, at_ms, import_id, ordinal)
    WHERE event_ids.slug_id = ${slugId} AND event_ids.id_hash = ${hash} AND events.id = ${id}`.execute(db);
  if (same.rows.length > 0) return false;
  await sql`
    INSERT INTO event_ids (slug_id, id_hash, import_id, ordinal, at_ms)
    VALUES (${slugId}, ${hash}, ${directImportId}, ${ordinal}, ${atMs})`.execute(db);
  return true;
}

/** Returns the number of a name in its dictionary; creates it if it is new. */
async function numberOf(db: PlainDb, table: string, key: string, column: string, name: string): Promise<number> {
  await sql`INSERT OR IGNORE INTO ${sql.table(table)} (${sql.ref(column)}) VALUES (${name})`.execute(db);
  const { rows } = await sql<{ id: number }>`
    SELECT ${sql.ref(key)} AS id FROM ${sql.table(table)} WHERE ${sql.ref(column)} = ${name}`.execute(db);
  return rows[0]?.id ?? 0;
}
