import type { AssetType } from "../../contract/asset-types.ts";

export const assetStatuses = ["UNKNOWN", "BLOCKED", "ALLOWED"] as const;
export type AssetStatus = (typeof assetStatuses)[number];

/** The subject of a proposal. Global: unique by type and content, one status for every organization. */
export interface Asset {
  readonly id: number;
  readonly type: AssetType;
  readonly content: string;
  readonly status: AssetStatus;
}

export interface AssetStore {
  /**
   * Inserts or updates by id, in the surrounding transaction. Type and content must not belong to another asset
   * (`holderOf`).
   */
  upsert(assets: readonly Asset[]): Promise<void>;
  /** Returns the id of the asset with this type and content; null without one. */
  holderOf(asset: Pick<Asset, "type" | "content">): Promise<number | null>;
  /** Returns the ids that exist. */
  existing(ids: readonly number[]): Promise<ReadonlySet<number>>;
  byId(id: number): Promise<(Asset & { readonly isWatchlisted: boolean }) | null>;
  /** Blocks the asset for every organization. */
  block(id: number): Promise<void>;
  /** Puts the asset on the watchlist; its status does not change. */
  watchlist(id: number): Promise<void>;
}
