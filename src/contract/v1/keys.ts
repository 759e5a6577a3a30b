import { z } from "zod";

import { instantSchema } from "./instant.ts";

/** A valid key of the embedded service, without the key itself. */
export const listedKeySchema = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(["customer", "staff"]),
  /** Slugs. */
  organizations: z.array(z.string()),
  createdAt: instantSchema,
});
export type ListedKey = z.infer<typeof listedKeySchema>;

/** A key that was made now: the only answer that has it. */
export const madeKeySchema = listedKeySchema.extend({
  key: z.string(),
  /** Organizations that are not there yet; absent: none. */
  unknown: z.array(z.string()).optional(),
});
export type MadeKey = z.infer<typeof madeKeySchema>;
