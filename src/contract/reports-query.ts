import { z } from "zod";

import { assetTypes } from "./asset-types.ts";
import { apiNames, issueMessages, readWith, type FieldNames } from "./issues.ts";
import { actors, proposalDecisions, reportSources, reportStatuses } from "./report-values.ts";
import type { Report, ReportsQuery } from "./reports.ts";

const flag = z.enum(["true", "false"]).transform((text) => text === "true");
const instant = z
  .string()
  .refine(isInstant, "must be a real date as YYYY-MM-DDTHH:mm:ss.sssZ")
  .meta({ format: "date-time" });
const actor = z.enum(actors);

/** The query of the URL, one string per field: repeated, unknown or malformed fields are separate issues. */
export const reportsQuerySchema = z.strictObject({
  slug: z.string().min(1).exactOptional(),
  cursor: z.string().min(1).exactOptional(),
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, "must be an integer from 1 to 100")
    .transform(Number)
    .exactOptional(),
  startDate: instant.exactOptional(),
  endDate: instant.exactOptional(),
  onlyRejected: flag.exactOptional(),
  needsCustomerReview: flag.exactOptional(),
  status: z.enum(reportStatuses).exactOptional(),
  decision: z.enum(proposalDecisions).exactOptional(),
  assetType: z.enum(assetTypes).exactOptional(),
  source: z.enum(reportSources).exactOptional(),
  reportedBy: actor.exactOptional(),
  reviewedBy: actor.exactOptional(),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, "must be two letters")
    .transform((text) => text.toUpperCase())
    .exactOptional(),
});

/** Parses the query, or returns one message per problem that names the fields by `names`; a start after the end is one. */
export function parseReportsQuery(
  raw: unknown,
  names: FieldNames = apiNames,
):
  | { readonly kind: "query"; readonly query: ReportsQuery }
  | { readonly kind: "issues"; readonly issues: readonly string[] } {
  const read = readWith<ReportsQuery>(reportsQuerySchema, raw, names);
  if (read.kind === "problems") return { kind: "issues", issues: issueMessages(read.problems, names) };
  const query = read.data;
  if (query.startDate !== undefined && query.endDate !== undefined && query.startDate > query.endDate)
    return { kind: "issues", issues: [`${names.nameOf("startDate")}: must not be after ${names.nameOf("endDate")}`] };
  return { kind: "query", query };
}

/** Returns whether `text` is exactly `YYYY-MM-DDTHH:mm:ss.sssZ` and an existing date. */
export function isInstant(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text)) return false;
  const atMs = Date.parse(text);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString() === text;
}

const identifier = z.int().gt(0);

/**
 * The fields of a report that the client requires and a review returns; others are optional and passed through (CONTRACT 9).
 */
export const reportSchema = z.looseObject({
  proposals: z.array(z.looseObject({ id: identifier, asset: z.looseObject({ id: identifier }) })).optional(),
}) satisfies z.ZodType<Report>;
