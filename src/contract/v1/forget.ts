import { z } from "zod";

/** The removed rows of an organization by kind; reports of API v2 are `records`. */
export const forgottenSchema = z.object({
  events: z.number(),
  history: z.number(),
  alerts: z.number(),
  silences: z.number(),
  markers: z.number(),
  keys: z.number(),
  records: z.number(),
});
export type ForgottenRows = z.infer<typeof forgottenSchema>;
export type ForgottenKind = keyof ForgottenRows;
