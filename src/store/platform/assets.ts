import type { AssetType } from "../../contract/asset-types.ts";
import { chunksOf, inChunks } from "../engine/chunks.ts";
import type { Db } from "../schema.ts";

export const assetStatuses = ["UNKNOWN", "BLOCKED", "ALLOWED"] as const;
export type AssetStatus = (typeof assetStatuses)[number];

/** The subject of a proposal. Global: unique by type and content, one status for every organization. */
export interface Asset {
  readonly id: number;
  readonly type: AssetType;
  readonly content: string;
  readonly status: AssetStatus;
}

/** Creates the asset store over the table `assets`. */
export function createAssetStore(db: Db) {
  return {
    /**
     * Inserts or updates by id, in the surrounding transaction. Type and content must not belong to another asset
     * (`holderOf`).
     */
    upsert: async (assets: readonly Asset[]): Promise<void> => {
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
    /** Returns the id of the asset with this type and content; null without one. */
    holderOf: async ({ type, content }: Pick<Asset, "type" | "content">): Promise<number | null> => {
      const row = await db
        .selectFrom("assets")
        .select("asset_id")
        .where("asset_type", "=", type)
        .where("content", "=", content)
        .executeTakeFirst();
      return row?.asset_id ?? null;
    },
    /** Returns the ids that exist. */
    existing: async (ids: readonly number[]): Promise<ReadonlySet<number>> => {
      const rows = await inChunks(ids, (some) =>
        db.selectFrom("assets").select("asset_id").where("asset_id", "in", some).execute(),
      );
      return new Set(rows.map(({ asset_id }) => asset_id));
    },
    byId: async (id: number): Promise<(Asset & { readonly isWatchlisted: boolean }) | null> => {
      const row = await db.selectFrom("assets").selectAll().where("asset_id", "=", id).executeTakeFirst();
      return row === undefined ? null : { ...storedAsset(row), isWatchlisted: row.is_watchlisted === 1 };
    },
    /** Blocks the asset for every organization. */
    block: async (id: number): Promise<void> => {
      await db.updateTable("assets").set({ status: "BLOCKED" }).where("asset_id", "=", id).execute();
    },
    /** Puts the asset on the watchlist; its status does not change. */
    watchlist: async (id: number): Promise<void> => {
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
