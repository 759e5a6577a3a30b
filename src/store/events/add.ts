import { hash } from "node:crypto";
import { sql } from "kysely";

import { FlatlineError } from "../../base/errors.ts";
import { dayMs, eventLoopTurn, hourMs, minuteMs } from "../../base/time.ts";
import { noType } from "../../contract/assets.ts";
import { dialectOf, inTransaction, rowStatement } from "../engine/dialect.ts";
import type { PlainDb } from "../tables.ts";
import { createTally, deadStatus, ingestedStatus, type LivenessEvent, type StatusTally } from "./rules.ts";

// Everything that stores events, a post, an import, a preload, comes here (CONTRACT 10).

/** What became of events. */
export interface Added {
  readonly received: number;
  readonly stored: number;
  readonly duplicates: number;
  /** Events whose id is stored, or is in an earlier one, with other content; they are left out. */
  readonly conflicts: number;
  /** Some of them. */
  readonly someConflicts: readonly { readonly slug: string; readonly id: string }[];
  readonly storedByStatus: Readonly<StatusTally>;
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
 * Stores events in commits of at most 2,000 rows. Each counts once, also when it is sent again: it is known by its id, or by what it
 * says. Events of one organization are stored together, in their order: a commit then changes few pages of the database (three
 * times as fast with a thousand organizations, measured 2026-11).
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
    storedByStatus: createTally(),
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
  /** Whether what an organization's events say of an instant is together, so that no other has to be remembered. */
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
function attributesText({ attributes }: LivenessEvent): string {
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

// No id has a control character.
const ownKeyMark = "\u0001";
// The last instant of the year 9999 has ten digits.
const instantDigits = 10;
const digestLetters = 12;

/** What the keys of events without an id at or after an instant begin with, or are greater than. */
export function ownKeysFrom(atMs: number): string {
  return `${ownKeyMark}${Math.max(atMs, 0).toString(36).padStart(instantDigits, "0")}`;
}

/** Returns what an event of an organization is known by: its id, or its instant and a digest of what it says. */
export function keyOf(event: LivenessEvent): string {
  if (event.id !== null) return event.id;
  const content = event.asset === null ? `${contentOf(event)}\n${event.number ?? 0}` : `\n${contentOf(event)}`;
  return `${ownKeysFrom(event.atMs)}${hash("sha256", content, "base64url").slice(0, digestLetters)}`;
}

interface Row {
  readonly event: LivenessEvent;
  readonly slugId: number;
  readonly key: string;
  readonly ordinal: number;
  readonly typeId: number;
  readonly statusId: number;
  readonly setId: number | null;
}

interface AddedRows {
  readonly stored: readonly LivenessEvent[];
  readonly conflicts: readonly { readonly slug: string; readonly id: string }[];
}

/** Stores some thousand events with their rollups, without those that are known. */
async function addSome(
  db: PlainDb,
  events: readonly LivenessEvent[],
  onChange: AddOptions["onChange"],
): Promise<AddedRows> {
  const rows = await numberRows(db, events);
  await eventLoopTurn();
  // The first event with an id wins: among these, in the store and in a race.
  const keys = await insertKeys(
    db,
    rows.map(({ event, slugId, key, ordinal }) => [slugId, key, event.atMs, ordinal]),
  );
  await eventLoopTurn();
  const isNew = keys.length === rows.length ? null : new Set(keys.map(({ ordinal }) => ordinal));
  const stored = isNew === null ? rows : rows.filter(({ ordinal }) => isNew.has(ordinal));
  await insertEvents(
    db,
    stored.map(({ event, slugId, ordinal, typeId, statusId, setId }) => [
      slugId,
      event.atMs,
      ordinal,
      typeId,
      statusId,
      event.count,
      event.asset,
      event.id,
      setId,
    ]),
  );
  await eventLoopTurn();
  const conflicts = isNew === null ? [] : await conflictsOf(db, rows, isNew);
  onChange?.(await addDeaths(db, stored));
  return { stored: stored.map(({ event }) => event), conflicts };
}

const insertKeys = rowStatement<{ ordinal: number }>(
  ["bigint", "text", "bigint", "bigint"],
  (rows) => `
    INSERT INTO event_ids (slug_id, id, at_ms, ordinal) ${rows} ON CONFLICT DO NOTHING RETURNING ordinal`,
);
const insertEvents = rowStatement(
  ["bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "text", "text", "bigint"],
  (rows) => `
    INSERT INTO events (slug_id, at_ms, ordinal, type_id, status_id, count, asset, id, attribute_set_id) ${rows}`,
);

/** Gives the events their ordinals, and their names the numbers that the store has for them. */
async function numberRows(db: PlainDb, events: readonly LivenessEvent[]): Promise<readonly Row[]> {
  const slugIds = await numbersOf(db, "slugs", new Set(events.map(({ slug }) => slug)));
  const typeIds = await numbersOf(db, "assetTypes", new Set(events.flatMap(({ assetType }) => assetType ?? [])));
  const statusIds = await numbersOf(db, "statuses", new Set(events.map(({ status }) => status)));
  const setIds = await setNumbersOf(db, events, slugIds);
  const { rows } = await sql<{ next_ordinal: number }>`
    UPDATE event_counter SET next_ordinal = next_ordinal + ${events.length} RETURNING next_ordinal`.execute(db);
  const first = (rows[0]?.next_ordinal ?? 0) - events.length;
  return events.map((event, index) => {
    const slugId = slugIds.get(event.slug) ?? 0;
    return {
      event,
      slugId,
      key: keyOf(event),
      ordinal: first + index,
      typeId: event.assetType === null ? noType : (typeIds.get(event.assetType) ?? noType),
      statusId: statusIds.get(event.status) ?? 0,
      setId: setIds.get(`${slugId}\n${attributesText(event)}`) ?? null,
    };
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

interface SetRow {
  readonly attribute_set_id: number;
  readonly slug_id: number;
  readonly attributes: string;
  readonly last_day: number;
}
const findSets = rowStatement<SetRow>(
  ["bigint", "text"],
  (rows) => `
    WITH given (slug_id, attributes) AS (${rows})
    SELECT attribute_set_id, slug_id, attributes, last_day FROM given JOIN event_attribute_sets USING (slug_id, attributes)`,
);
const keepSets = rowStatement<SetRow>(
  ["bigint", "text", "bigint"],
  (rows) => `
    INSERT INTO event_attribute_sets (slug_id, attributes, last_day) ${rows}
    ON CONFLICT (slug_id, attributes) DO UPDATE SET last_day = excluded.last_day
    RETURNING attribute_set_id, slug_id, attributes, last_day`,
);

/** Returns the numbers of sets of attributes, by the organization's number and the text; each is kept until its last day is pruned. */
async function setNumbersOf(
  db: PlainDb,
  events: readonly LivenessEvent[],
  slugIds: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const given = new Map<string, { slugId: number; text: string; lastDay: number }>();
  for (const event of events) {
    const text = attributesText(event);
    if (text === "") continue;
    const slugId = slugIds.get(event.slug) ?? 0;
    const lastDay = Math.floor(event.atMs / dayMs);
    const known = given.get(`${slugId}\n${text}`);
    if (known === undefined) given.set(`${slugId}\n${text}`, { slugId, text, lastDay });
    else known.lastDay = Math.max(known.lastDay, lastDay);
  }
  const numbers = new Map<string, number>();
  const note = (sets: readonly SetRow[]): void =>
    sets.forEach((set) => numbers.set(`${set.slug_id}\n${set.attributes}`, set.attribute_set_id));
  const known = await findSets(
    db,
    [...given.values()].map(({ slugId, text }) => [slugId, text]),
  );
  note(known);
  for (const { slug_id, attributes, last_day } of known)
    if ((given.get(`${slug_id}\n${attributes}`)?.lastDay ?? 0) <= last_day) given.delete(`${slug_id}\n${attributes}`);
  note(
    await keepSets(
      db,
      [...given.values()].map(({ slugId, text, lastDay }) => [slugId, text, lastDay]),
    ),
  );
  return numbers;
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
    SELECT known.slug_id, known.id, known.at_ms, type_id, status_id, count, asset, attribute_set_id
    FROM given JOIN event_ids AS known ON known.slug_id = given.slug_id AND known.id = given.id
    JOIN events ON events.slug_id = known.slug_id AND events.at_ms = known.at_ms AND events.ordinal = known.ordinal`,
);

/** Compares the rows that were not new with the events that have their ids. */
async function conflictsOf(
  db: PlainDb,
  rows: readonly Row[],
  isNew: ReadonlySet<number>,
): Promise<AddedRows["conflicts"]> {
  const repeated = rows.filter(({ event, ordinal }) => event.id !== null && !isNew.has(ordinal));
  const asked = new Map(repeated.map(({ slugId, key }) => [`${slugId}\n${key}`, [slugId, key] as const]));
  const known = new Map(
    (await findKnown(db, [...asked.values()])).map((event) => [`${event.slug_id}\n${event.id}`, event]),
  );
  return repeated.flatMap(({ event, slugId, key, typeId, statusId, setId }) => {
    const first = known.get(`${slugId}\n${key}`);
    const isSame =
      first === undefined ||
      (first.at_ms === event.atMs &&
        first.type_id === typeId &&
        first.status_id === statusId &&
        first.count === event.count &&
        first.asset === event.asset &&
        first.attribute_set_id === setId);
    return isSame ? [] : [{ slug: event.slug, id: key }];
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
async function addDeaths(db: PlainDb, rows: readonly Row[]): Promise<ReadonlyMap<string, number>> {
  const minutes = new Cells(minuteMs);
  const hours = new Cells(hourMs);
  const firstMinutes = new Map<string, number>();
  for (const { event, slugId, typeId } of rows) {
    if (event.status !== deadStatus || event.count === 0) continue;
    hours.add(slugId, event.atMs, typeId, event.count);
    const minute = minutes.add(slugId, event.atMs, typeId, event.count);
    firstMinutes.set(event.slug, Math.min(firstMinutes.get(event.slug) ?? Infinity, minute));
  }
  await addMinutes(db, minutes.rows());
  await eventLoopTurn();
  await addHours(db, hours.rows());
  return firstMinutes;
}

/** Takes deaths of one organization out of the rollups again. */
export async function removeDeaths(
  db: PlainDb,
  slugId: number,
  deaths: readonly { readonly atMs: number; readonly typeId: number; readonly count: number }[],
): Promise<void> {
  for (const [table, column, lengthMs, change] of [
    ["event_minutes", "minute", minuteMs, addMinutes],
    ["event_hours", "hour", hourMs, addHours],
  ] as const) {
    const cells = new Cells(lengthMs);
    const spans = deaths.map(({ atMs, typeId, count }) => cells.add(slugId, atMs, typeId, -count));
    await change(db, cells.rows());
    const span = sql.ref(column);
    await sql`DELETE FROM ${sql.table(table)} WHERE slug_id = ${slugId}
      AND ${span} >= ${Math.min(...spans)} AND ${span} <= ${Math.max(...spans)} AND deaths <= 0`.execute(db);
  }
}

/** Deaths by organization, span of time and type. */
class Cells {
  readonly #cells = new Map<string, [slugId: number, span: number, typeId: number, deaths: number]>();
  readonly #spanMs: number;

  constructor(spanMs: number) {
    this.#spanMs = spanMs;
  }

  /** Returns the span. */
  add(slugId: number, atMs: number, typeId: number, deaths: number): number {
    const span = Math.floor(atMs / this.#spanMs);
    const key = `${slugId},${span},${typeId}`;
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, [slugId, span, typeId, deaths]);
    else cell[3] += deaths;
    return span;
  }

  rows(): readonly [number, number, number, number][] {
    return [...this.#cells.values()];
  }
}
