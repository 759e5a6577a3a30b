import type { AssetType } from "../../contract/asset-types.ts";

export const assetStatuses = ["UNKNOWN", "BLOCKED", "ALLOWED"] as const;
export type AssetStatus = (typeof assetStatuses)[number];

/** What a proposal is about. Global: unique on type and content, one status for every organization. */
export interface Asset {
  readonly id: number;
  readonly type: AssetType;
  readonly content: string;
  readonly status: AssetStatus;
}

export interface AssetStore {
  /** Inserts or overwrites by id, in the surrounding transaction. Their type and content must be free (`holderOf`). */
  upsert(assets: readonly Asset[]): Promise<void>;
  /** Id of the asset with this type and content; null without one. */
  holderOf(asset: Pick<Asset, "type" | "content">): Promise<number | null>;
  /** Those of `ids` that exist. */
  existing(ids: readonly number[]): Promise<ReadonlySet<number>>;
  byId(id: number): Promise<(Asset & { readonly isWatchlisted: boolean }) | null>;
  /** For every organization. */
  block(id: number): Promise<void>;
  /** Its status stays as it is. */
  watchlist(id: number): Promise<void>;
}
