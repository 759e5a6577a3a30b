import type { DatabaseSync } from "node:sqlite";

import { attributesJson } from "../input/attributes.ts";
import type { NameTable } from "../input/fields.ts";
import type { EventNames } from "../input/rows.ts";

/** Numbers of an import's names in the store, by their index in EventNames. */
export interface NameIds {
  readonly slugs: number[];
  readonly assetTypes: number[];
  readonly statuses: number[];
  readonly attributes: number[];
}

/** Returns empty tables. */
export function noNameIds(): NameIds {
  return { slugs: [], assetTypes: [], statuses: [], attributes: [] };
}

// Names between two steps: about 0.3 ms.
const namesAStep = 64;

/** Resolves the names that are new since the last call, a few per step, as EventWriter does. */
export function* resolveNames(db: DatabaseSync, names: EventNames, ids: NameIds): Generator<void> {
  yield* resolve(db, ["event_slugs", "slug_id", "slug"], names.slugs, ids.slugs);
  yield* resolve(db, ["event_asset_types", "type_id", "asset_type"], names.assetTypes, ids.assetTypes);
  yield* resolve(db, ["event_statuses", "status_id", "status"], names.statuses, ids.statuses);
  const sets = ["event_attribute_sets", "attribute_set_id", "attributes"] as const;
  yield* resolve(db, sets, names.attributes, ids.attributes, attributesJson);
}

function* resolve(
  db: DatabaseSync,
  [table, key, column]: readonly [table: string, key: string, column: string],
  names: NameTable,
  ids: number[],
  storedAs: (name: string) => string = (name) => name,
): Generator<void> {
  if (ids.length === names.names.length) return;
  const known = db.prepare(`SELECT ${key} AS id FROM ${table} WHERE ${column} = ?`);
  const added = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?) RETURNING ${key} AS id`);
  for (let index = ids.length; index < names.names.length; index++) {
    const name = storedAs(names.names[index] ?? "");
    ids[index] = Number((known.get(name) ?? added.get(name))?.["id"]);
    if (index % namesAStep === 0) yield;
  }
}
