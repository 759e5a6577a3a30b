import { z } from "zod";

/** Numbers of inserted or updated records. */
export const fixtureCountsSchema = z.object({
  organizations: z.number(),
  keys: z.number(),
  assets: z.number(),
  legitimacyRules: z.number(),
  reports: z.number(),
  proposals: z.number(),
});
export type FixtureCounts = z.infer<typeof fixtureCountsSchema>;
