import type { ListedOrganization } from "../../contract/listed-organization.ts";
import type { Db } from "../tables.ts";

export interface DiscoveryTables {
  /** `list` is a JSON array of ListedOrganization. */
  readonly discovery_lists: { readonly name: string; readonly list: string };
}

/** The current list of each discovery source (CONTRACT 14), by its name. */
export function createDiscoveryStore(db: Db<DiscoveryTables>) {
  return {
    /** null: none was ever applied. */
    list: async (name: string): Promise<readonly ListedOrganization[] | null> => {
      const row = await db.selectFrom("discovery_lists").select("list").where("name", "=", name).executeTakeFirst();
      return row === undefined ? null : (JSON.parse(row.list) as ListedOrganization[]);
    },
    save: async (name: string, organizations: readonly ListedOrganization[]): Promise<void> => {
      const list = JSON.stringify(organizations);
      await db
        .insertInto("discovery_lists")
        .values({ name, list })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ list }))
        .execute();
    },
    /** Deletes what is stored of sources with other names. */
    keepOnly: async (names: readonly string[]): Promise<void> => {
      const all = db.deleteFrom("discovery_lists");
      await (names.length === 0 ? all : all.where("name", "not in", names)).execute();
    },
  };
}
