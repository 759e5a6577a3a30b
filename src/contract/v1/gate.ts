import { z } from "zod";

import { instantSchema } from "./instant.ts";

/** Whether an organization's deaths may be acted on; who released it and why only for readers with that right. */
export const gateSchema = z.object({
  slug: z.string(),
  decision: z.enum(["allow", "hold"]),
  reason: z.string(),
  message: z.string(),
  /** What opens it, while it holds. */
  opens: z.string().nullable(),
  check: z.string().nullable(),
  alertId: z.string().nullable(),
  since: instantSchema.nullable(),
  suspectFrom: instantSchema.nullable(),
  releases: z.array(
    z.object({
      at: instantSchema,
      how: z.string(),
      alertId: z.string().nullable(),
      by: z.string().nullable().optional(),
      comment: z.string().nullable().optional(),
    }),
  ),
});
export type Gate = z.infer<typeof gateSchema>;

/** The gates that hold, worst first, and how many others are open. */
export const gateListSchema = z.object({ gates: z.array(gateSchema), open: z.number() });
export type GateList = z.infer<typeof gateListSchema>;
