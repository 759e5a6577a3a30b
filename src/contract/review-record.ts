import { z } from "zod";

import { proposalRecordSchema } from "./report-record.ts";

/** What flatline's own service answers to a review, every field always present (CONTRACT 9). */
export const reviewRecordSchema = z.object({
  proposal: proposalRecordSchema,
  review: z.object({
    id: z.int(),
    /** WATCHLIST is stored as REJECT. */
    decision: z.enum(["APPROVE", "REJECT"]),
    /** "" without one. */
    label: z.string(),
    brandId: z.int().nullable(),
    /** Composed of the reason and the note. */
    comment: z.string(),
    createdAt: z.string(),
  }),
  watchlisted: z.boolean(),
});
export type ReviewRecord = z.infer<typeof reviewRecordSchema>;
