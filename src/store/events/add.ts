import { hash } from "node:crypto";
import { sql } from "kysely";

import { FlatlineError } from "../../base/errors.ts";
import { dayMs, eventLoopTurn, hourMs, minuteMs } from "../../base/time.ts";
import { noType } from "../../contract/assets.ts";
import { dialectOf, inTransaction, rowChange, rowStatement } from "../engine/dialect.ts";
import type { PlainDb } from "../tables.ts";
import { deadStatusId, ingestedStatus, type IngestedStatus, type LivenessEvent } from "./rules.ts";

// Everything that stores events, a post, an import, a preload, comes here (CONTRACT 10).

/** The result of storing events. */
export interface Added {
  readonly received: number;
  readonly stored: number;
  readonly duplicates: number;
  /** Events whose id is stored, or is in an earlier one, with other content; they are left out. */
  readonly conflicts: number;
  /** Some of them. */
  readonly someConflicts: readonly { readonly slug: string; readonly id: string }[];
  readonly storedByStatus: Readonly<Record<IngestedStatus, number>>;
}
export const mostConflictsNamed = 3;

export interface AddOptions {
  /** Ends it after a commit. */
  readonly signal?: AbortSignal | undefined;
  /** Awaited after each commit but the last: gives others their turn [a turn of the event loop]. */
  readonly rest?: (() => Promise<void>) | undefined;
  /** Called at the end of each transaction with the minute of the oldest death that it adds to each organization. */
  readonly onChange?: ((firstMinutes: ReadonlyMap<string, number>) => void) | undefined;
}

// A commit of so many rows takes some ten milliseconds; each of its statements is a block of the event loop.
const rowsACommit = 2_000;
// Some milliseconds, too.
const rowsABlock = 10_000;

/**
 * Stores events in commits of at most 2,000 rows. Each counts once, also when it is sent again: it is known by its id,
 * or by what it says. Events of one organization are stored together, in their order: a commit then changes few pages
 * of the database (three times as fast with a thousand organizations, measured 2026-11).
 * @throws unavailable when the signal aborts; what was committed stays
 */
export async function addEvents(
  db: PlainDb,
  events: readonly LivenessEvent[],
  { signal, rest = eventLoopTurn, onChange }: AddOptions = {},
): Promise<Added> {
  const total = {
    received: events.length,
    stored: 0,
    duplicates: 0,
    conflicts: 0,
    someConflicts: [] as { slug: string; id: string }[],
    storedByStatus: { DETECTED_AS_DEAD: 0, DETECTED_AS_ALIVE: 0, other: 0 },
  };
  const grouped = await groupBySlug(events);
  for (let start = 0; start < grouped.length; start += rowsACommit) {
    if (signal?.aborted === true)
      throw new FlatlineError("unavailable", "stopped before all events were stored: send them again");
    if (start > 0) await rest();
    const some = grouped.slice(start, start + rowsACommit);
    const { stored, conflicts } = await inTransaction(db, (transaction) => addSome(transaction, some, onChange));
    for (const { status } of stored) total.storedByStatus[ingestedStatus(status)]++;
    total.stored += stored.length;
    total.conflicts += conflicts.length;
    total.duplicates += some.length - stored.length - conflicts.length;
    total.someConflicts.push(...conflicts.slice(0, mostConflictsNamed - total.someConflicts.length));
  }
  return total;
}

/** Returns the events of one organization after the other; equal ones without an id or a name are numbered. */
async function groupBySlug(events: readonly LivenessEvent[]): Promise<readonly LivenessEvent[]> {
  const bySlug = new Map<string, LivenessEvent[]>();
  const equal = new EqualEvents();
  for (const [index, event] of events.entries()) {
    if (index % rowsABlock === rowsABlock - 1) await eventLoopTurn();
    const own = bySlug.get(event.slug);
    const numbered = isNumbered(event) ? { ...event, number: event.number ?? equal.numberOf(event) } : event;
    if (own === undefined) bySlug.set(event.slug, [numbered]);
    else own.push(numbered);
  }
  return [...bySlug.values()].flat();
}

function isNumbered({ id, asset }: LivenessEvent): boolean {
  return id === null && asset === null;
}

/** Numbers equal events that have neither id nor name, in their order. */
export class EqualEvents {
  readonly #bySlug = new Map<string, { atMs: number; readonly counts: Map<string, number> }>();
  /** Whether an organization's events come in the order of time, so that only one instant has to be remembered. */
  readonly #isInOrder: (slug: string) => boolean;

  constructor(isInOrder: (slug: string) => boolean = () => false) {
    this.#isInOrder = isInOrder;
  }

  /** Returns 0 for the first, and for each that needs no number. */
  numberOf(event: LivenessEvent): number {
    if (!isNumbered(event)) return 0;
    let own = this.#bySlug.get(event.slug);
    if (own === undefined) this.#bySlug.set(event.slug, (own = { atMs: event.atMs, counts: new Map() }));
    if (own.atMs !== event.atMs && this.#isInOrder(event.slug)) own.counts.clear();
    own.atMs = event.atMs;
    const key = `${event.atMs}\n${contentOf(event)}`;
    const number = own.counts.get(key) ?? 0;
    own.counts.set(key, number + 1);
    return number;
  }
}

const attributeTexts = new WeakMap<object, string>();

/** Returns the JSON object that the store keeps of attributes; empty: none. */
export function attributesText({ attributes }: Pick<LivenessEvent, "attributes">): string {
  if (attributes === undefined) return "";
  let text = attributeTexts.get(attributes);
  if (text === undefined) attributeTexts.set(attributes, (text = JSON.stringify(attributes)));
  return text;
}

function contentOf(event: LivenessEvent): string {
  const { assetType, asset, status, count } = event;
  return asset === null
    ? `${assetType ?? ""}\n${status}\n${count}\n${attributesText(event)}`
    : `${assetType ?? ""}\n${asset}\n${status}`;
}

/** A digest of what an event without an id says; together with its instant the event is known by it. */
function digestOf(event: LivenessEvent): number {
  const content = event.asset === null ? `${contentOf(event)}\n${event.number ?? 0}` : `\n${contentOf(event)}`;
  return Number.parseInt(hash("sha256", content).slice(0, digestDigits), 16);
}
// So many hexadecimal digits fit into an integer of JavaScript.
const digestDigits = 13;

/** Returns what an event of an organization is known by. */
export function keyOf(event: LivenessEvent): string {
  return event.id ?? `${event.atMs}\n${digestOf(event)}`;
}

interface AddedRows {
  readonly stored: readonly LivenessEvent[];
  readonly conflicts: readonly { readonly slug: string; readonly id: string }[];
}

/** The columns of a row of `events`. */
type Row = readonly [
  slugId: number,
  atMs: number,
  ordinal: number,
  typeId: number,
  statusId: number,
  count: number,
  asset: string | null,
  id: string | null,
  digest: number | null,
  setId: number | null,
];

const insertEvents = rowChange(
  ["bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "text", "text", "bigint", "bigint"],
  (rows) => `
    INSERT INTO events (slug_id, at_ms, ordinal, type_id, status_id, count, asset, id, digest, attribute_set_id) ${rows}
    ON CONFLICT DO NOTHING`,
);
const findOrdinals = rowStatement<{ ordinal: number }>(
  ["bigint", "bigint", "bigint"],
  (rows) => `
    WITH given (slug_id, at_ms, ordinal) AS (${rows})
    SELECT ordinal FROM given JOIN events USING (slug_id, at_ms, ordinal)`,
);

/** Stores some thousand events with their rollups, without those that are known. */
async function addSome(
  db: PlainDb,
  events: readonly LivenessEvent[],
  onChange: AddOptions["onChange"],
): Promise<AddedRows> {
  const rows = await rowsOf(db, events);
  await eventLoopTurn();
  // The first event with an id wins: among these, and in the store.
  const inserted = await insertEvents(db, rows);
  await eventLoopTurn();
  if (inserted === rows.length) {
    onChange?.(await addDeaths(db, events, rows));
    return { stored: events, conflicts: [] };
  }
  const keys = rows.map(([slugId, atMs, ordinal]) => [slugId, atMs, ordinal]);
  const ordinals = new Set((await findOrdinals(db, keys)).map(({ ordinal }) => ordinal));
  const isStored = rows.map(([, , ordinal]) => ordinals.has(ordinal));
  const isNew = (_: unknown, index: number): boolean => isStored[index] === true;
  const stored = events.filter(isNew);
  await eventLoopTurn();
  const conflicts = await conflictsOf(db, events, rows, isStored);
  onChange?.(await addDeaths(db, stored, rows.filter(isNew)));
  return { stored, conflicts };
}

/** Gives the events their ordinals, and their names the numbers that the store has for them. */
async function rowsOf(db: PlainDb, events: readonly LivenessEvent[]): Promise<readonly Row[]> {
  const slugIds = await numbersOf(db, "slugs", new Set(events.map(({ slug }) => slug)));
  const typeIds = await numbersOf(db, "assetTypes", new Set(events.flatMap(({ assetType }) => assetType ?? [])));
  const statusIds = await numbersOf(db, "statuses", new Set(events.map(({ status }) => status)));
  const setIds = await setNumbersOf(db, events, slugIds);
  const { rows } = await sql<{ next_ordinal: number }>`
    UPDATE event_counter SET next_ordinal = next_ordinal + ${events.length} RETURNING next_ordinal`.execute(db);
  const first = (rows[0]?.next_ordinal ?? 0) - events.length;
  return events.map((event, index): Row => {
    const { slug, atMs, assetType, status, count, asset, id } = event;
    const slugId = slugIds.get(slug) ?? 0;
    const typeId = assetType === null ? noType : (typeIds.get(assetType) ?? noType);
    const setId = setIds.get(`${slugId}\n${attributesText(event)}`) ?? null;
    const digest = id === null ? digestOf(event) : null;
    return [slugId, atMs, first + index, typeId, statusIds.get(status) ?? 0, count, asset, id, digest, setId];
  });
}

const dictionaries = {
  slugs: { table: "event_slugs", key: "slug_id", column: "slug" },
  assetTypes: { table: "event_asset_types", key: "type_id", column: "asset_type" },
  statuses: { table: "event_statuses", key: "status_id", column: "status" },
} as const;

/** Returns the numbers of names; a new name gets one. */
async function numbersOf(
  db: PlainDb,
  kind: keyof typeof dictionaries,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const { table, key, column } = dictionaries[kind];
  const columns = sql`${sql.ref(key)} AS id, ${sql.ref(column)} AS name`;
  const { texts } = dialectOf(db);
  const known = await sql<{ id: number; name: string }>`
    SELECT ${columns} FROM ${sql.table(table)}
    WHERE ${sql.ref(column)} IN (SELECT value FROM ${texts([...names])} AS given)`.execute(db);
  const numbers = new Map(known.rows.map(({ id, name }) => [name, id]));
  const missing = [...names].filter((name) => !numbers.has(name));
  if (missing.length > 0) {
    const added = await sql<{ id: number; name: string }>`
      INSERT INTO ${sql.table(table)} (${sql.ref(column)}) SELECT value FROM ${texts(missing)} AS given
      RETURNING ${columns}`.execute(db);
    for (const { id, name } of added.rows) numbers.set(name, id);
  }
  return numbers;
}

const keepSets = rowStatement<{ attribute_set_id: number; slug_id: number; attributes: string }>(
  ["bigint", "text", "bigint"],
  (rows) => `
    INSERT INTO event_attribute_sets AS known (slug_id, attributes, last_day) ${rows}
    ON CONFLICT (slug_id, attributes) DO UPDATE
      SET last_day = CASE WHEN excluded.last_day > known.last_day THEN excluded.last_day ELSE known.last_day END
    RETURNING attribute_set_id, slug_id, attributes`,
);

/** Returns the numbers of sets of attributes, by organization and text. A set is kept until its last day is pruned. */
async function setNumbersOf(
  db: PlainDb,
  events: readonly LivenessEvent[],
  slugIds: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const given = new Map<string, [slugId: number, text: string, lastDay: number]>();
  for (const event of events) {
    const text = attributesText(event);
    if (text === "") continue;
    const slugId = slugIds.get(event.slug) ?? 0;
    const lastDay = Math.floor(event.atMs / dayMs);
    const known = given.get(`${slugId}\n${text}`);
    if (known === undefined) given.set(`${slugId}\n${text}`, [slugId, text, lastDay]);
    else known[2] = Math.max(known[2], lastDay);
  }
  const sets = await keepSets(db, [...given.values()]);
  return new Map(sets.map((set) => [`${set.slug_id}\n${set.attributes}`, set.attribute_set_id]));
}

const findKnown = rowStatement<{
  slug_id: number;
  id: string;
  at_ms: number;
  type_id: number;
  status_id: number;
  count: number;
  asset: string | null;
  attribute_set_id: number | null;
}>(
  ["bigint", "text"],
  (rows) => `
    WITH given (slug_id, id) AS (${rows})
    SELECT slug_id, id, at_ms, type_id, status_id, count, asset, attribute_set_id
    FROM given JOIN events USING (slug_id, id)`,
);

/** Compares the rows that were not stored with the events that have their ids. */
async function conflictsOf(
  db: PlainDb,
  events: readonly LivenessEvent[],
  rows: readonly Row[],
  isStored: readonly boolean[],
): Promise<AddedRows["conflicts"]> {
  const repeated = new Map<string, [slugId: number, id: string]>();
  for (const [index, [slugId, , , , , , , id]] of rows.entries())
    if (id !== null && isStored[index] !== true) repeated.set(`${slugId}\n${id}`, [slugId, id]);
  const known = new Map((await findKnown(db, [...repeated.values()])).map((row) => [`${row.slug_id}\n${row.id}`, row]));
  return rows.flatMap(([slugId, atMs, , typeId, statusId, count, asset, id, , setId], index) => {
    const first = isStored[index] === true || id === null ? undefined : known.get(`${slugId}\n${id}`);
    const isSame =
      first === undefined ||
      (first.at_ms === atMs &&
        first.type_id === typeId &&
        first.status_id === statusId &&
        first.count === count &&
        first.asset === asset &&
        first.attribute_set_id === setId);
    return isSame ? [] : [{ slug: events[index]?.slug ?? "", id: id ?? "" }];
  });
}

const rollup = (table: string, span: string) =>
  rowStatement(
    ["bigint", "bigint", "bigint", "bigint"],
    (rows) => `
      INSERT INTO ${table} (slug_id, ${span}, type_id, deaths) ${rows}
      ON CONFLICT (slug_id, ${span}, type_id) DO UPDATE SET deaths = ${table}.deaths + excluded.deaths`,
  );
const addMinutes = rollup("event_minutes", "minute");
const addHours = rollup("event_hours", "hour");

/** Adds deaths to the rollups; returns the first minute that changed, by organization. */
async function addDeaths(
  db: PlainDb,
  events: readonly LivenessEvent[],
  rows: readonly Row[],
): Promise<ReadonlyMap<string, number>> {
  const firstMinutes = new Map<string, number>();
  const deaths = rows.flatMap(([slug_id, at_ms, , type_id, statusId, count], index): DeathRow[] => {
    if (statusId !== deadStatusId || count === 0) return [];
    const slug = events[index]?.slug ?? "";
    firstMinutes.set(slug, Math.min(firstMinutes.get(slug) ?? Infinity, Math.floor(at_ms / minuteMs)));
    return [{ slug_id, at_ms, type_id, deaths: count }];
  });
  await addMinutes(db, cellsOf(deaths, minuteMs));
  await eventLoopTurn();
  await addHours(db, cellsOf(deaths, hourMs));
  return firstMinutes;
}

/** The deaths of an event that is stored, or was deleted. */
export interface DeathRow {
  readonly slug_id: number;
  readonly at_ms: number;
  readonly type_id: number;
  readonly deaths: number;
}

/** Takes deaths of one organization out of the rollups again. */
export async function removeDeaths(db: PlainDb, deleted: readonly DeathRow[]): Promise<void> {
  const taken = deleted.flatMap((row) => (row.deaths > 0 ? [{ ...row, deaths: -row.deaths }] : []));
  const [first] = taken;
  if (first === undefined) return;
  for (const [table, column, lengthMs, change] of [
    ["event_minutes", "minute", minuteMs, addMinutes],
    ["event_hours", "hour", hourMs, addHours],
  ] as const) {
    const cells = cellsOf(taken, lengthMs);
    const spans = cells.map(([, span]) => span);
    await change(db, cells);
    const span = sql.ref(column);
    await sql`DELETE FROM ${sql.table(table)} WHERE slug_id = ${first.slug_id}
      AND ${span} >= ${Math.min(...spans)} AND ${span} <= ${Math.max(...spans)} AND deaths <= 0`.execute(db);
  }
}

/** Sums deaths by organization, span of time and type. */
function cellsOf(rows: readonly DeathRow[], spanMs: number) {
  const cells = new Map<string, [slugId: number, span: number, typeId: number, deaths: number]>();
  for (const { slug_id: slugId, at_ms: atMs, type_id: typeId, deaths } of rows) {
    const span = Math.floor(atMs / spanMs);
    const key = `${slugId},${span},${typeId}`;
    const cell = cells.get(key);
    if (cell === undefined) cells.set(key, [slugId, span, typeId, deaths]);
    else cell[3] += deaths;
  }
  return [...cells.values()];
}
