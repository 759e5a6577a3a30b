import { z } from "zod";

import { parseJson } from "../../base/json.ts";

/** Rows of a listing that is asked for without `limit`. */
export const defaultLimit = 100;
const mostRows = 1_000;

/** Returns the schema of the rows of one page: `limit` of a query. */
export function limitUpTo(most: number): z.ZodType<number, string> {
  const problem = `must be a whole number from 1 to ${most}`;
  return z
    .string()
    .regex(/^\d{1,4}$/, problem)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= most, problem);
}
export const limitSchema = limitUpTo(mostRows);

/** Writes the place at which the next page begins as a cursor. */
export function writeCursor(place: readonly number[]): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** Returns the schema of a cursor: `cursor` of a query, read as a place of that schema. */
export function cursorSchema<Place>(placeSchema: z.ZodType<Place>): z.ZodType<Place, string> {
  return z.string().transform((text, context): Place => {
    const parsed = placeSchema.safeParse(parseJson(Buffer.from(text, "base64url").toString()));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: "custom", message: "is none that this listing gave; begin again without it" });
    return z.NEVER;
  });
}
