import { z } from "zod";

import { severities } from "../severity.ts";

/** Where a person may want to go on the page. */
export const placeSchema = z.object({
  name: z.string(),
  href: z.string(),
  kind: z.string(),
  /** What its mark shows; null: it has none. */
  severity: z.enum(severities).nullable(),
  /** Other words that it is found by: labels. */
  words: z.array(z.string()).readonly(),
});
export type Place = z.infer<typeof placeSchema>;

export const placeListSchema = z.object({ places: z.array(placeSchema) });
export type PlaceList = z.infer<typeof placeListSchema>;
