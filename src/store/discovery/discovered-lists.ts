import type { ListedOrganization } from "../../contract/listed-organization.ts";
import type { Db } from "../tables.ts";

/** A list that a source gave and that is not applied (CONTRACT 14). */
export interface HeldListState {
  readonly reason: "empty" | "shrunk";
  /** Hash of the whole list. */
  readonly digest: string;
  /** Hash of its slugs. */
  readonly slugsDigest: string;
  /** How many refreshes in a row gave these organizations. */
  readonly repeats: number;
  readonly countedAtMs: number;
}

/** How a discovery source stands. */
export interface DiscoveryState {
  readonly name: string;
  /** Hash of where the source is read from: an ETag is only good there. */
  readonly fingerprint: string;
  /** ETag of the last list that it gave, applied or held. */
  readonly etag: string | null;
  /** What was wrong at the last refresh; null: nothing. */
  readonly problem: string | null;
  readonly refreshedAtMs: number;
  /** Hash of the list that holds; null: none was ever applied. */
  readonly appliedDigest: string | null;
  readonly appliedAtMs: number | null;
  readonly held: HeldListState | null;
}

/** Tables of the discovery sources. */
export interface DiscoveryTables {
  /** `held` is a HeldListState as JSON. */
  readonly discovery_sources: Omit<DiscoveryState, "held"> & { readonly held: string | null };
  /** `list` is a JSON array of ListedOrganization. */
  readonly discovery_lists: { readonly name: string; readonly kind: string; readonly list: string };
}

/** Discovery over its two tables; the lists have one of their own, because a row with one is rewritten as a whole. */
export function createDiscoveryStore(db: Db) {
  return {
    /** Returns the states by name. */
    states: async (): Promise<readonly DiscoveryState[]> => {
      const rows = await db.selectFrom("discovery_sources").selectAll().orderBy("name").execute();
      return rows.map(stateOf);
    },
    state: async (name: string): Promise<DiscoveryState | null> => {
      const row = await db.selectFrom("discovery_sources").selectAll().where("name", "=", name).executeTakeFirst();
      return row === undefined ? null : stateOf(row);
    },
    /** The list that holds, or the one that is held back; null: there is none. */
    list: async (name: string, kind: "applied" | "held"): Promise<readonly ListedOrganization[] | null> => {
      const row = await db
        .selectFrom("discovery_lists")
        .select("list")
        .where("name", "=", name)
        .where("kind", "=", kind)
        .executeTakeFirst();
      return row === undefined ? null : (JSON.parse(row.list) as ListedOrganization[]);
    },
    save: async ({ held, ...state }: DiscoveryState): Promise<void> => {
      const row = { ...state, held: held === null ? null : JSON.stringify(held) };
      await db
        .insertInto("discovery_sources")
        .values(row)
        .onConflict((conflict) => conflict.column("name").doUpdateSet(row))
        .execute();
    },
    /** Replaces a list; null removes it. */
    saveList: async (
      name: string,
      kind: "applied" | "held",
      list: readonly ListedOrganization[] | null,
    ): Promise<void> => {
      if (list === null) {
        await db.deleteFrom("discovery_lists").where("name", "=", name).where("kind", "=", kind).execute();
        return;
      }
      const text = JSON.stringify(list);
      await db
        .insertInto("discovery_lists")
        .values({ name, kind, list: text })
        .onConflict((conflict) => conflict.columns(["name", "kind"]).doUpdateSet({ list: text }))
        .execute();
    },
    /** Deletes what is stored of sources with other names. */
    keepOnly: async (names: readonly string[]): Promise<void> => {
      for (const table of ["discovery_sources", "discovery_lists"] as const) {
        const all = db.deleteFrom(table);
        await (names.length === 0 ? all : all.where("name", "not in", names)).execute();
      }
    },
  };
}

function stateOf({ held, ...row }: DiscoveryTables["discovery_sources"]): DiscoveryState {
  return { ...row, held: held === null ? null : (JSON.parse(held) as HeldListState) };
}
