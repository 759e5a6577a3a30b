import { z } from "zod";

import { defaultThresholds, type SpikeThresholds } from "../spike/thresholds.ts";
import {
  findingSeverities,
  healthcheckCategories,
  healthcheckSeverities,
  type HealthcheckResult,
} from "./healthcheck.ts";

const mapValue = z.union([z.number(), z.string(), z.boolean(), z.null()]);

const findingSchema = z.object({
  kind: z.string(),
  ref: z.string().nullable(),
  severity: z.enum(findingSeverities),
  message: z.string(),
});

/** A healthcheck result as flatline serves it: the API's twelve fields with the API's types. */
export const servedHealthcheckSchema = z.object({
  id: z.string(),
  title: z.string(),
  category: z.enum(healthcheckCategories),
  generatedAt: z.string(),
  scope: z.object({ slug: z.string().nullable() }),
  ok: z.boolean(),
  severity: z.enum(healthcheckSeverities),
  observed: z.record(z.string(), mapValue),
  threshold: z.record(z.string(), mapValue),
  findings: z.array(findingSchema),
  suggestedAction: z.string().nullable(),
  appUrl: z.string().nullable(),
});

/** A healthcheck result as flatline accepts it: findings may be ok, and other keys are dropped (CONTRACT 9). */
export const healthcheckResultSchema = servedHealthcheckSchema.extend({
  findings: z.array(findingSchema.extend({ severity: z.enum(healthcheckSeverities) })),
}) satisfies z.ZodType<HealthcheckResult>;

/** A safe integer above 0, without coercion: "24" is invalid (CONTRACT 2 and 9). */
const count = z.int().gt(0);
const multiplier = z.number().gt(0);

/** The request of a spike check: missing thresholds get the API's defaults, unknown keys are ignored. */
export const spikeRequestSchema = z.object({
  slug: z.string().min(1),
  windowHours: count.default(defaultThresholds.windowHours),
  baselineDays: count.default(defaultThresholds.baselineDays),
  warnMultiplier: multiplier.default(defaultThresholds.warnMultiplier),
  failMultiplier: multiplier.default(defaultThresholds.failMultiplier),
  minSpikeCount: count.default(defaultThresholds.minSpikeCount),
}) satisfies z.ZodType<SpikeThresholds & { readonly slug: string }>;
