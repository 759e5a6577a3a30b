/** One of the assets that a notification names (CONTRACT 12). */
export interface SampledAsset {
  readonly asset: string;
  /** null: its event named none. */
  readonly assetType: string | null;
  readonly deadAtMs: number;
  readonly attributes: Readonly<Record<string, string>>;
}
