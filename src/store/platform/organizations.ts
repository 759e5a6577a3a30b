import { sql } from "kysely";

import type { Db, RowId } from "../tables.ts";

export interface OrganizationTables {
  readonly organizations: { readonly organizationId: RowId; readonly slug: string; readonly name: string | null };
  readonly brands: { readonly organizationId: number; readonly brandId: number; readonly name: string };
}

/** Creates the organization store over `organizations` and `brands`. */
export function createOrganizationStore(db: Db) {
  return {
    /** Inserts or renames; a null name keeps the stored one. Returns the organization's number in other tables. */
    upsert: async ({ slug, name }: { readonly slug: string; readonly name: string | null }): Promise<number> => {
      const { organizationId } = await db
        .insertInto("organizations")
        .values({ slug, name })
        .onConflict((conflict) =>
          conflict
            .column("slug")
            .doUpdateSet({ name: sql<string | null>`coalesce(excluded.name, organizations.name)` }),
        )
        .returning("organizationId")
        .executeTakeFirstOrThrow();
      return organizationId;
    },
    /** Inserts or renames brands of one organization; other brands stay. */
    upsertBrands: async (
      organizationId: number,
      brands: readonly { readonly id: number; readonly name: string }[],
    ): Promise<void> => {
      for (const { id, name } of brands)
        await db
          .insertInto("brands")
          .values({ organizationId, brandId: id, name })
          .onConflict((conflict) => conflict.columns(["organizationId", "brandId"]).doUpdateSet({ name }))
          .execute();
    },
    /** Returns the number of an organization; null if it does not exist. */
    idOf: async (slug: string): Promise<number | null> => {
      const row = await db
        .selectFrom("organizations")
        .select("organizationId")
        .where("slug", "=", slug)
        .executeTakeFirst();
      return row?.organizationId ?? null;
    },
    /** Returns all slugs, sorted. */
    slugs: async (): Promise<readonly string[]> => {
      const rows = await db.selectFrom("organizations").select("slug").orderBy("slug").execute();
      return rows.map(({ slug }) => slug);
    },
    hasBrand: async (organizationId: number, brandId: number): Promise<boolean> => {
      const row = await db
        .selectFrom("brands")
        .select("brandId")
        .where("organizationId", "=", organizationId)
        .where("brandId", "=", brandId)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
