import type { Db } from "../tables.ts";

/** Key-value pairs of the store itself. */
export type MetaStore = ReturnType<typeof createMetaStore>;

/** Creates the key-value store over the table `meta`. */
export function createMetaStore(db: Db<{ readonly meta: { readonly name: string; readonly value: string } }>) {
  async function get(name: string): Promise<string | null> {
    const row = await db.selectFrom("meta").select("value").where("name", "=", name).executeTakeFirst();
    return row?.value ?? null;
  }
  return {
    get,
    set: async (name: string, value: string): Promise<void> => {
      await db
        .insertInto("meta")
        .values({ name, value })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
        .execute();
    },
    /** Stores `value` unless the name has one; returns the stored value. */
    getOrSet: async (name: string, value: string): Promise<string> => {
      const known = await get(name);
      // A command that only reads may have no right to write.
      if (known !== null) return known;
      await db
        .insertInto("meta")
        .values({ name, value })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .execute();
      return (await get(name)) ?? value;
    },
  };
}
