import { z } from "zod";

export type Instant = string & z.core.$brand<"instant">;

/** ISO 8601 in UTC, with milliseconds and Z. Only the server knows it from other text. */
export const instantSchema = z.string() as z.ZodType as z.ZodType<string, Instant>;

export function iso(atMs: number): string;
export function iso(atMs: number | null): string | null;
export function iso(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

type WithInstants<Row> = {
  [Key in keyof Row as Key extends `${infer Name}Ms` ? Name : Key]: Key extends `${string}Ms`
    ? string | Extract<Row[Key], null>
    : Row[Key];
};

/** Returns an object for the HTTP API: each epoch `startsAtMs` becomes a `startsAt`. */
export function withInstants<Row extends object>(row: Row): WithInstants<Row> {
  const entries = Object.entries(row).map(([key, value]) =>
    key.endsWith("Ms") ? [key.slice(0, -2), iso(value as number | null)] : [key, value],
  );
  return Object.fromEntries(entries) as WithInstants<Row>;
}
