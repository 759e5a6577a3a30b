import type { Generated } from "kysely";
import type { AssetType } from "../../contract/asset-types.ts";
import { chunksOf, inChunks } from "../engine/chunks.ts";
import type { Db } from "../tables.ts";

export const assetStatuses = ["UNKNOWN", "BLOCKED", "ALLOWED"] as const;
export type AssetStatus = (typeof assetStatuses)[number];

/** The subject of a proposal. Global: unique by type and content, one status for every organization. */
export interface Asset {
  readonly id: number;
  readonly type: AssetType;
  readonly content: string;
  readonly status: AssetStatus;
}

export interface AssetTables {
  readonly assets: {
    readonly assetId: number;
    readonly assetType: string;
    readonly content: string;
    readonly status: string;
    readonly isWatchlisted: Generated<number>;
  };
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
          .values(chunk.map(({ id, type, ...rest }) => ({ assetId: id, assetType: type, ...rest })))
          .onConflict((conflict) =>
            conflict.column("assetId").doUpdateSet((eb) => ({
              assetType: eb.ref("excluded.assetType"),
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
        .select("assetId")
        .where("assetType", "=", type)
        .where("content", "=", content)
        .executeTakeFirst();
      return row?.assetId ?? null;
    },
    /** Returns the ids that exist. */
    existing: async (ids: readonly number[]): Promise<ReadonlySet<number>> => {
      const rows = await inChunks(ids, (some) =>
        db.selectFrom("assets").select("assetId").where("assetId", "in", some).execute(),
      );
      return new Set(rows.map(({ assetId }) => assetId));
    },
    byId: async (id: number): Promise<(Asset & { readonly isWatchlisted: boolean }) | null> => {
      const row = await db.selectFrom("assets").selectAll().where("assetId", "=", id).executeTakeFirst();
      return row === undefined ? null : { ...storedAsset(row), isWatchlisted: row.isWatchlisted === 1 };
    },
    /** Blocks the asset for every organization. */
    block: async (id: number): Promise<void> => {
      await db.updateTable("assets").set({ status: "BLOCKED" }).where("assetId", "=", id).execute();
    },
    /** Puts the asset on the watchlist; its status does not change. */
    watchlist: async (id: number): Promise<void> => {
      await db.updateTable("assets").set({ isWatchlisted: 1 }).where("assetId", "=", id).execute();
    },
  };
}

/** Returns the asset of a row, also of a join. */
export function storedAsset(row: {
  readonly assetId: number;
  readonly assetType: string;
  readonly content: string;
  readonly assetStatus?: string;
  readonly status?: string;
}): Asset {
  const status: AssetStatus | undefined = assetStatuses.find((name) => name === (row.assetStatus ?? row.status));
  // Validated by the import.
  const type = row.assetType as AssetType;
  return { id: row.assetId, type, content: row.content, status: status ?? "UNKNOWN" };
}
