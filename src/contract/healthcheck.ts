import { z } from "zod";

/** A value of the free maps `observed` and `threshold` (CONTRACT 9, the client). */
const mapValue = z.union([z.number(), z.string(), z.boolean(), z.null()]);

export const healthcheckCategories = ["organization", "assets", "reports", "proposals", "integrations", "platform"] as const;

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
  category: z.string(),
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
