import { z } from "zod";

import { instantSchema } from "./instant.ts";

/** An asset that died in an alert. */
export const deadAssetSchema = z.object({
  asset: z.string(),
  assetType: z.string().nullable(),
  deadAt: instantSchema,
  attributes: z.record(z.string(), z.string()),
  revivedAt: instantSchema.nullable(),
});
export type DeadAsset = z.infer<typeof deadAssetSchema>;

/** A page of the assets that died in an alert; the counts are those of the whole alert. */
export const deadAssetPageSchema = z.object({
  alertId: z.string(),
  fromAt: instantSchema,
  toAt: instantSchema,
  count: z.number(),
  knownCount: z.number(),
  assets: z.array(deadAssetSchema),
  cursor: z.string().optional(),
});
export type DeadAssetPage = z.infer<typeof deadAssetPageSchema>;
