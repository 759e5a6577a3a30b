import { sql } from "kysely";
import { attributesJson, storedAttributes } from "../input/attributes.ts";
import { chunksOf } from "../../engine/chunks.ts";
import type { NameIds } from "../sqlite/name-ids.ts";
import type { EventNames } from "../input/rows.ts";
import type { LivenessEvent } from "../events.ts";
import type { PlainDb } from "../../schema.ts";

const dictionaries = {
  slugs: { table: "event_slugs", key: "slug_id", column: "slug" },
  assetTypes: { table: "event_asset_types", key: "type_id", column: "asset_type" },
  statuses: { table: "event_statuses", key: "status_id", column: "status" },
  attributes: { table: "event_attribute_sets", key: "attribute_set_id", column: "attributes" },
} as const;

/**
 * Returns the numbers of an import's names on PostgreSQL, and creates missing ones. Best outside of the import's
 * transaction: another one with the same new name would wait for its end. A name without events is harmless.
 */
export async function nameIdsInPostgres(
  db: PlainDb,
  { slugs, assetTypes, statuses, attributes }: EventNames,
): Promise<NameIds> {
  const numbersOf = async (dictionary: keyof typeof dictionaries, names: readonly string[]): Promise<number[]> => {
    const known = await numberNames(db, dictionary, names);
    return names.map((name) => known.get(name) ?? 0);
  };
  return {
    slugs: await numbersOf("slugs", slugs.names),
    assetTypes: await numbersOf("assetTypes", assetTypes.names),
    statuses: await numbersOf("statuses", statuses.names),
    attributes: await numbersOf("attributes", attributes.names.map(attributesJson)),
  };
}

/** Numbers of the names in some events, by dictionary. */
export interface EventNumbers {
  readonly slugs: ReadonlyMap<string, number>;
  readonly assetTypes: ReadonlyMap<string, number>;
  readonly statuses: ReadonlyMap<string, number>;
  /** By the text of {@link storedAttributes}. */
  readonly attributes: ReadonlyMap<string, number>;
}

/** Like {@link nameIdsInPostgres}, for a list of events. */
export async function eventNumbers(db: PlainDb, events: readonly LivenessEvent[]): Promise<EventNumbers> {
  return {
    slugs: await numberNames(
      db,
      "slugs",
      events.map(({ slug }) => slug),
    ),
    assetTypes: await numberNames(
      db,
      "assetTypes",
      events.flatMap(({ assetType }) => assetType ?? []),
    ),
    statuses: await numberNames(
      db,
      "statuses",
      events.map(({ status }) => status),
    ),
    attributes: await numberNames(
      db,
      "attributes",
      events.flatMap((event) => storedAttributes(event.attributes) ?? []),
    ),
  };
}

async function numberNames(
  db: PlainDb,
  dictionary: keyof typeof dictionaries,
  names: readonly string[],
): Promise<Map<string, number>> {
  const known = new Map<string, number>();
  const wanted = [...new Set(names)];
  await lookUp(db, dictionary, wanted, known);
  // Sorted: transactions that add the same names then wait for each other without a deadlock.
  const missing = wanted.filter((name) => !known.has(name)).toSorted();
  if (missing.length === 0) return known;
  const { table, column } = dictionaries[dictionary];
  for (const chunk of chunksOf(missing)) {
    await sql`
      INSERT INTO ${sql.table(table)} (${sql.ref(column)}) SELECT unnest(${chunk}::text[]) ON CONFLICT DO NOTHING`.execute(
      db,
    );
  }
  await lookUp(db, dictionary, missing, known);
  return known;
}

async function lookUp(
  db: PlainDb,
  dictionary: keyof typeof dictionaries,
  names: readonly string[],
  known: Map<string, number>,
): Promise<void> {
  const { table, key, column } = dictionaries[dictionary];
  for (const chunk of chunksOf(names)) {
    const { rows } = await sql<{ id: number; name: string }>`
      SELECT ${sql.ref(key)} AS id, ${sql.ref(column)} AS name FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} = ANY(${chunk}::text[])`.execute(db);
    for (const { id, name } of rows) known.set(name, id);
  }
}
