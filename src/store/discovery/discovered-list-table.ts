import type { ListedOrganization } from "../../contract/listed-organization.ts";
import type { Db } from "../schema.ts";
import type { DiscoveryState, DiscoveryStore } from "./discovered-lists.ts";

export interface DiscoverySourceRow {
  readonly name: string;
  readonly fingerprint: string;
  readonly etag: string | null;
  readonly problem: string | null;
  readonly refreshed_at_ms: number;
  readonly applied_digest: string | null;
  readonly applied_at_ms: number | null;
  /** HeldListState as JSON. */
  readonly held: string | null;
}

/** Tables of the discovery sources. */
export interface DiscoveryTables {
  readonly discovery_sources: DiscoverySourceRow;
  readonly discovery_turns: { readonly name: string; readonly next_at_ms: number };
  /** `list` is a JSON array of ListedOrganization. */
  readonly discovery_lists: { readonly name: string; readonly kind: string; readonly list: string };
}

/** Discovery over its three tables; the lists have one of their own, because a row with one is rewritten as a whole. */
export function createDiscoveryStore(db: Db): DiscoveryStore {
  return {
    states: async () => {
      const rows = await db.selectFrom("discovery_sources").selectAll().orderBy("name").execute();
      return rows.map(stateOf);
    },
    state: async (name) => {
      const row = await db.selectFrom("discovery_sources").selectAll().where("name", "=", name).executeTakeFirst();
      return row === undefined ? null : stateOf(row);
    },
    list: async (name, kind) => {
      const row = await db
        .selectFrom("discovery_lists")
        .select("list")
        .where("name", "=", name)
        .where("kind", "=", kind)
        .executeTakeFirst();
      return row === undefined ? null : (JSON.parse(row.list) as ListedOrganization[]);
    },
    claim: async (name, { nowMs, nextAtMs }) => {
      const taken = await db
        .insertInto("discovery_turns")
        .values({ name, next_at_ms: nextAtMs })
        .onConflict((conflict) =>
          conflict
            .column("name")
            .doUpdateSet({ next_at_ms: nextAtMs })
            // One that was taken further ahead than it lasts: the clock was set back.
            .where((where) =>
              where.or([
                where("discovery_turns.next_at_ms", "<=", nowMs),
                where("discovery_turns.next_at_ms", ">", nextAtMs),
              ]),
            ),
        )
        .executeTakeFirst();
      return (taken.numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    save: async (state) => {
      const { name, ...columns } = rowOf(state);
      await db
        .insertInto("discovery_sources")
        .values({ name, ...columns })
        .onConflict((conflict) => conflict.column("name").doUpdateSet(columns))
        .execute();
    },
    saveList: async (name, kind, list) => {
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
    keepOnly: async (names) => {
      for (const table of ["discovery_sources", "discovery_turns", "discovery_lists"] as const) {
        const all = db.deleteFrom(table);
        await (names.length === 0 ? all : all.where("name", "not in", names)).execute();
      }
    },
  };
}

function rowOf({ held, ...state }: DiscoveryState): DiscoverySourceRow {
  return {
    name: state.name,
    fingerprint: state.fingerprint,
    etag: state.etag,
    problem: state.problem,
    refreshed_at_ms: state.refreshedAtMs,
    applied_digest: state.appliedDigest,
    applied_at_ms: state.appliedAtMs,
    held: held === null ? null : JSON.stringify(held),
  };
}

function stateOf(row: DiscoverySourceRow): DiscoveryState {
  return {
    name: row.name,
    fingerprint: row.fingerprint,
    etag: row.etag,
    problem: row.problem,
    refreshedAtMs: row.refreshed_at_ms,
    appliedDigest: row.applied_digest,
    appliedAtMs: row.applied_at_ms,
    held: row.held === null ? null : (JSON.parse(row.held) as DiscoveryState["held"]),
  };
}
