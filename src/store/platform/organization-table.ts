import { sql } from "kysely";
import { engineOf } from "../engine/engine.ts";
import type { OrganizationStore } from "./organizations.ts";
import type { Db } from "../schema.ts";

/** Creates the organization store over `organizations` and `brands`. */
export function createOrganizationStore(db: Db): OrganizationStore {
  return {
    upsert: async ({ slug, name }) => {
      const { organization_id } = await db
        .insertInto("organizations")
        .values({ slug, name })
        .onConflict((conflict) =>
          conflict
            .column("slug")
            .doUpdateSet({ name: sql<string | null>`coalesce(excluded.name, organizations.name)` }),
        )
        .returning("organization_id")
        .executeTakeFirstOrThrow();
      return organization_id;
    },
    upsertBrands: async (organizationId, brands) => {
      for (const { id, name } of brands)
        await db
          .insertInto("brands")
          .values({ organization_id: organizationId, brand_id: id, name })
          .onConflict((conflict) => conflict.columns(["organization_id", "brand_id"]).doUpdateSet({ name }))
          .execute();
    },
    idOf: async (slug) => {
      const row = await db
        .selectFrom("organizations")
        .select("organization_id")
        .where("slug", "=", slug)
        .executeTakeFirst();
      return row?.organization_id ?? null;
    },
    slugs: async () => {
      const rows = await db.selectFrom("organizations").select("slug").orderBy("slug").execute();
      return rows.map(({ slug }) => slug);
    },
    lock: async (slug) => {
      // SQLite has one write transaction at a time.
      if (engineOf(db) === "sqlite") return;
      // FOR NO KEY UPDATE: reports of the organization may be inserted meanwhile.
      await db
        .selectFrom("organizations")
        .select("organization_id")
        .where("slug", "=", slug)
        .forNoKeyUpdate()
        .execute();
    },
    hasBrand: async (organizationId, brandId) => {
      const row = await db
        .selectFrom("brands")
        .select("brand_id")
        .where("organization_id", "=", organizationId)
        .where("brand_id", "=", brandId)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
