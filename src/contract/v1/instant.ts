import { z } from "zod";

/** An instant as every answer of the HTTP API writes it: ISO 8601 in UTC, with milliseconds and Z. */
export const instantSchema = z.string();

/** Returns the instant as the HTTP API writes it. */
export function iso(atMs: number): string;
export function iso(atMs: number | null): string | null;
export function iso(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
