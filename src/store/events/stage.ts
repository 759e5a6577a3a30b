import { sql } from "kysely";

import { noType } from "../../contract/assets.ts";
import { chunksOf } from "../engine/chunks.ts";
import { dialectOf } from "../engine/dialect.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { PlainDb } from "../schema.ts";
import { attributesJson, createEventNames, ingestedStatus, type EventNames, type EventRow } from "./rules.ts";
import type { Rows } from "./read.ts";

// Checked events on their way into the store lie in a temporary table of their connection, which nobody else sees, and which
// ends with it: a killed process leaves nothing but names, which are harmless without events.
const columns = `ordinal INTEGER NOT NULL PRIMARY KEY, slug_id INTEGER NOT NULL, at_ms INTEGER NOT NULL,
  type_id INTEGER NOT NULL, status_id INTEGER NOT NULL, count INTEGER NOT NULL, asset TEXT, id TEXT, attribute_set_id INTEGER`;

/** How long staged rows stay where the engine can tell: until the end of their transaction, or of the connection. */
export type StageLife = "transaction" | "connection";

/** Creates the temporary table of a connection, or empties it. */
export async function openStage(db: PlainDb, life: StageLife): Promise<void> {
  const { ddl, temporaryEnd } = dialectOf(db);
  await sql.raw(ddl(`CREATE TEMP TABLE IF NOT EXISTS staged (${columns})`) + temporaryEnd(life)).execute(db);
  await sql`DELETE FROM staged`.execute(db);
}

const insertStaged = rowStatement(
  ["bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "text", "text", "bigint"],
  (rows) => `
    INSERT INTO staged (ordinal, slug_id, at_ms, type_id, status_id, count, asset, id, attribute_set_id) ${rows}`,
);

// Eight statements on SQLite, half of one on PostgreSQL.
const rowsAWrite = 2_048;

const dictionaries = {
  slugs: { table: "event_slugs", key: "slug_id", column: "slug" },
  assetTypes: { table: "event_asset_types", key: "type_id", column: "asset_type" },
  statuses: { table: "event_statuses", key: "status_id", column: "status" },
  attributes: { table: "event_attribute_sets", key: "attribute_set_id", column: "attributes" },
} as const satisfies Record<keyof EventNames, unknown>;
type NameKind = keyof typeof dictionaries;

/** What is known of all events of an input. */
export class Totals implements Rows {
  readonly names = createEventNames();
  rows = 0;
  /** Over all events; Infinity and -Infinity without any. */
  firstAtMs = Infinity;
  lastAtMs = -Infinity;
  /** The number of events by the index of their status. */
  readonly #byStatus: number[] = [];

  row({ atMs, status }: EventRow): void {
    this.rows++;
    if (atMs < this.firstAtMs) this.firstAtMs = atMs;
    if (atMs > this.lastAtMs) this.lastAtMs = atMs;
    this.#byStatus[status] = (this.#byStatus[status] ?? 0) + 1;
  }

  /** What is said of the events when all are received, at times that are shifted. */
  summary(shiftMs: number) {
    const { rows, firstAtMs, lastAtMs, names } = this;
    const byStatus = names.statuses.names.map((name, index) => [name, this.#byStatus[index] ?? 0] as const);
    return {
      received: rows,
      firstAtMs: rows === 0 ? null : firstAtMs + shiftMs,
      lastAtMs: rows === 0 ? null : lastAtMs + shiftMs,
      slugs: names.slugs.names.length,
      otherStatuses: Object.fromEntries(
        byStatus.filter(([name, count]) => count > 0 && ingestedStatus(name) === "other"),
      ),
    };
  }
}

/** Events that are being staged. */
export class Staging extends Totals {
  /** Rows that are not in the table yet. */
  #waiting: EventRow[] = [];
  /** The store's numbers, by the indexes of names. */
  readonly #numbers = { slugs: [], assetTypes: [], statuses: [], attributes: [] } as Record<NameKind, number[]>;

  /** Takes an event; {@link write} stages it. */
  override row(row: EventRow): void {
    super.row(row);
    this.#waiting.push(row);
  }

  /** Whether so many rows wait that they are worth a statement. */
  get isFull(): boolean {
    return this.#waiting.length >= rowsAWrite;
  }

  /** The names of statuses by their numbers. */
  get statuses(): ReadonlyMap<number, string> {
    return new Map(this.#numbers.statuses.map((number, index) => [number, this.names.statuses.names[index] ?? ""]));
  }

  /**
   * Learns the store's numbers of the names that are new since the last call, and creates missing ones. Best outside of the
   * transaction that stores the events: another one with the same new name would wait for its end.
   */
  async number(db: PlainDb): Promise<void> {
    for (const kind of Object.keys(dictionaries) as NameKind[]) {
      const numbers = this.#numbers[kind];
      const names = this.names[kind].names.slice(numbers.length);
      numbers.push(...(await numbersOf(db, kind, kind === "attributes" ? names.map(attributesJson) : names)));
    }
  }

  /**
   * Stages the events that were taken, or those since the last call, when their names have numbers. Those of a transaction stay
   * in memory: it may run again.
   */
  async write(db: PlainDb, life: StageLife): Promise<void> {
    const { slugs, assetTypes, statuses, attributes } = this.#numbers;
    const rows = this.#waiting;
    if (life === "connection") this.#waiting = [];
    const first = this.rows - rows.length;
    await insertStaged(
      db,
      rows.map((row, index) => [
        first + index,
        slugs[row.slug] ?? 0,
        row.atMs,
        assetTypes[row.assetType] ?? noType,
        statuses[row.status] ?? 0,
        row.count,
        row.asset,
        row.id,
        attributes[row.attributes] ?? null,
      ]),
    );
  }
}

async function numbersOf(db: PlainDb, kind: NameKind, names: readonly string[]): Promise<readonly number[]> {
  const { table, column } = dictionaries[kind];
  const known = await lookUp(db, kind, names);
  // Sorted: transactions that add the same names then wait for each other without a deadlock.
  const missing = names.filter((name) => !known.has(name)).toSorted();
  for (const chunk of chunksOf(missing)) {
    await sql`
      INSERT INTO ${sql.table(table)} (${sql.ref(column)}) SELECT value FROM ${dialectOf(db).texts(chunk)} AS given
      WHERE true ON CONFLICT DO NOTHING`.execute(db);
  }
  const added = await lookUp(db, kind, missing);
  return names.map((name) => known.get(name) ?? added.get(name) ?? 0);
}

async function lookUp(db: PlainDb, kind: NameKind, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { table, key, column } = dictionaries[kind];
  const known = new Map<string, number>();
  for (const chunk of chunksOf(names)) {
    const { rows } = await sql<{ id: number; name: string }>`
      SELECT ${sql.ref(key)} AS id, ${sql.ref(column)} AS name FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} IN (SELECT value FROM ${dialectOf(db).texts(chunk)} AS given)`.execute(db);
    for (const { id, name } of rows) known.set(name, id);
  }
  return known;
}
