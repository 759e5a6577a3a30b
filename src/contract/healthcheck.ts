import { z } from "zod";

import { defaultThresholds, type SpikeThresholds } from "../spike/thresholds.ts";

/** A value of the free maps `observed` and `threshold` (CONTRACT 9, the client). */
const mapValue = z.union([z.number(), z.string(), z.boolean(), z.null()]);

/**
 * The six of the API. Five are the prefixes of the checks on its pages (chainpatrol/docs, cli/commands/healthchecks.mdx);
 * `blocklisting` is the remaining stage of the pipeline that its SDK's healthcheck names.
 */
export const healthcheckCategories = [
  "detections",
  "reviewing",
  "blocklisting",
  "takedowns",
  "assets",
  "organization",
] as const;

/** One finding: what kind, about what, how severe, in words. */
export const findingSchema = z.object({
  kind: z.string(),
  ref: z.string(),
  severity: z.enum(["ok", "warn", "fail"]),
  message: z.string(),
});
export type Finding = z.infer<typeof findingSchema>;

/** The result of a healthcheck with the API's twelve fields; strict about them, more keys are fine (CONTRACT 2 and 9). */
export const healthcheckResultSchema = z.looseObject({
  id: z.string(),
  title: z.string(),
  category: z.enum(healthcheckCategories),
  generatedAt: z.string(),
  scope: z.looseObject({ slug: z.string().nullable() }),
  ok: z.boolean(),
  severity: z.enum(["ok", "warn", "fail"]),
  observed: z.record(z.string(), mapValue),
  threshold: z.record(z.string(), mapValue),
  findings: z.array(findingSchema),
  suggestedAction: z.string().nullable(),
  appUrl: z.string().nullable(),
});
export type HealthcheckResult = z.infer<typeof healthcheckResultSchema>;

/** A threshold that counts something: a safe integer above 0; no coercion, "24" is wrong (CONTRACT 2 and 9). */
const count = z.int().gt(0);
const multiplier = z.number().gt(0);

/**
 * The body of POST /api/v2/healthchecks/assets/dead-asset-spike as the service reads it: thresholds that are left out take
 * the API's defaults, unknown keys are ignored.
 */
export const spikeRequestSchema = z.object({
  slug: z.string().min(1),
  windowHours: count.default(defaultThresholds.windowHours),
  baselineDays: count.default(defaultThresholds.baselineDays),
  warnMultiplier: multiplier.default(defaultThresholds.warnMultiplier),
  failMultiplier: multiplier.default(defaultThresholds.failMultiplier),
  minSpikeCount: count.default(defaultThresholds.minSpikeCount),
}) satisfies z.ZodType<SpikeThresholds & { readonly slug: string }>;
