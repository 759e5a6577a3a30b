import { z } from "zod";

import { lookAnswers } from "../second-opinion.ts";
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

/** An asset that died in an incident. */
export const incidentAssetSchema = deadAssetSchema.extend({
  slug: z.string(),
  /** What the verifier said of it; null: nothing. */
  answer: z.enum(lookAnswers).nullable(),
});
export type IncidentAsset = z.infer<typeof incidentAssetSchema>;

/** A page of the assets that died in an incident; the counts are of all that are listed, whatever the filters are. */
export const incidentAssetPageSchema = deadAssetPageSchema.omit({ alertId: true }).extend({
  incidentId: z.string(),
  number: z.number(),
  /** How many showed life to the verifier, and how many events found alive since. */
  seenAliveCount: z.number(),
  revivedCount: z.number(),
  assets: z.array(incidentAssetSchema),
});
export type IncidentAssetPage = z.infer<typeof incidentAssetPageSchema>;
