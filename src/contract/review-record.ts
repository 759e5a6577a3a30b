import { z } from "zod";

import { proposalRecordSchema } from "./report-record.ts";

/** The answer of flatline's own service to a review; every field is always present (CONTRACT 9). */
export const reviewRecordSchema = z.object({
  proposal: proposalRecordSchema,
  review: z.object({
    id: z.int(),
    /** WATCHLIST is stored as REJECT. */
    decision: z.enum(["APPROVE", "REJECT"]),
    /** "" without one. */
    label: z.string(),
    brandId: z.int().nullable(),
    /** Composed of reason and note. */
    comment: z.string(),
    createdAt: z.string(),
  }),
  watchlisted: z.boolean(),
});
