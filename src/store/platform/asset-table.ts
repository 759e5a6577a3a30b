import type { AssetType } from "../../contract/asset-types.ts";
import { assetStatuses, type Asset, type AssetStatus, type AssetStore } from "./assets.ts";
import { chunksOf } from "../engine/chunks.ts";
import type { Db } from "../schema.ts";

/** Creates the asset store over the table `assets`. */
export function createAssetStore(db: Db): AssetStore {
  return {
    upsert: async (assets) => {
      for (const chunk of chunksOf(assets))
        await db
          .insertInto("assets")
          .values(chunk.map(({ id, type, content, status }) => ({ asset_id: id, asset_type: type, content, status })))
          .onConflict((conflict) =>
            conflict.column("asset_id").doUpdateSet((eb) => ({
              asset_type: eb.ref("excluded.asset_type"),
              content: eb.ref("excluded.content"),
              status: eb.ref("excluded.status"),
            })),
          )
          .execute();
    },
    holderOf: async ({ type, content }) => {
      const row = await db
        .selectFrom("assets")
        .select("asset_id")
        .where("asset_type", "=", type)
        .where("content", "=", content)
        .executeTakeFirst();
      return row?.asset_id ?? null;
    },
    existing: async (ids) => {
      const found = new Set<number>();
      for (const chunk of chunksOf(ids)) {
        const rows = await db.selectFrom("assets").select("asset_id").where("asset_id", "in", chunk).execute();
        for (const row of rows) found.add(row.asset_id);
      }
      return found;
    },
    byId: async (id) => {
      const row = await db.selectFrom("assets").selectAll().where("asset_id", "=", id).executeTakeFirst();
      return row === undefined ? null : { ...storedAsset(row), isWatchlisted: row.is_watchlisted === 1 };
    },
    block: async (id) => {
      await db.updateTable("assets").set({ status: "BLOCKED" }).where("asset_id", "=", id).execute();
    },
    watchlist: async (id) => {
      await db.updateTable("assets").set({ is_watchlisted: 1 }).where("asset_id", "=", id).execute();
    },
  };
}

/** Returns the asset of a row, also of a join. */
export function storedAsset(row: {
  readonly asset_id: number;
  readonly asset_type: string;
  readonly content: string;
  readonly asset_status?: string;
  readonly status?: string;
}): Asset {
  const status: AssetStatus | undefined = assetStatuses.find((name) => name === (row.asset_status ?? row.status));
  // Validated by the import.
  const type = row.asset_type as AssetType;
  return { id: row.asset_id, type, content: row.content, status: status ?? "UNKNOWN" };
}
