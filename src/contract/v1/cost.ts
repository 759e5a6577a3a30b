import { z } from "zod";

/** The cost of a broken checker: deaths after the onset, and how long live assets counted as dead, over the revived only. */
export const costSchema = z.object({
  deaths: z.number(),
  knownCount: z.number(),
  revived: z.number(),
  stillDead: z.number(),
  /** From an asset's last death to its first revival; null: none was revived. */
  medianClosedSeconds: z.number().nullable(),
  /** The sum of these. */
  closedSeconds: z.number(),
});
export type CostAnswer = z.infer<typeof costSchema>;
