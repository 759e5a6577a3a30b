import { z } from "zod";

import { instantSchema } from "./instant.ts";

/** A silence of either origin; a recurring one has a schedule in place of its start and end. */
export const silenceSchema = z.object({
  id: z.string().nullable(),
  origin: z.string(),
  state: z.string(),
  slug: z.string().nullable(),
  check: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  startsAt: instantSchema.nullable(),
  endsAt: instantSchema.nullable(),
  schedule: z.string().optional(),
  duration: z.string().optional(),
  timezone: z.string().optional(),
  comment: z.string(),
  createdBy: z.string().nullable(),
  /** What a request claims about its author; not verified. */
  note: z.string().nullable(),
  createdAt: instantSchema.nullable(),
  isActive: z.boolean(),
  nextChangeAt: instantSchema.nullable(),
});
export type Silence = z.infer<typeof silenceSchema>;
