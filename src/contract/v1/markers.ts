import { z } from "zod";

import { instantSchema } from "./instant.ts";

/** A marker; who made it only for readers with that right. */
export const markerSchema = z.object({
  id: z.string(),
  at: instantSchema,
  text: z.string(),
  slug: z.string().nullable(),
  createdBy: z.string().nullable().optional(),
  /** What a request claims about its author; not verified. */
  note: z.string().nullable().optional(),
  createdAt: instantSchema,
});
export type ListedMarker = z.infer<typeof markerSchema>;
