import { z } from "zod";

import { assetTypes } from "./asset-types.ts";
import { issueMessages, readWith, type NameOf } from "./issues.ts";
import { actors, proposalDecisions, reportSources, reportStatuses, type Report, type ReportsQuery } from "./reports.ts";

const flag = z.enum(["true", "false"]).transform((text) => text === "true");
const instant = z
  .string()
  .refine(isInstant, "must be a real date as YYYY-MM-DDTHH:mm:ss.sssZ")
  .meta({ format: "date-time" });
const actor = z.enum(actors);

/** The query of the URL, a string per field: repeated, unknown and malformed fields are separate issues. */
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

/** Returns the query, or one message per problem; `nameOf` names the fields. A start after the end is a problem. */
export function parseReportsQuery(
  raw: unknown,
  nameOf: NameOf = String,
):
  | { readonly kind: "query"; readonly query: ReportsQuery }
  | { readonly kind: "issues"; readonly issues: readonly string[] } {
  const read = readWith<ReportsQuery>(reportsQuerySchema, raw);
  if (read.kind === "problems") return { kind: "issues", issues: issueMessages(read.problems, nameOf) };
  const query = read.data;
  if (query.startDate !== undefined && query.endDate !== undefined && query.startDate > query.endDate)
    return { kind: "issues", issues: [`${nameOf("startDate")}: must not be after ${nameOf("endDate")}`] };
  return { kind: "query", query };
}

/** Returns whether `text` is exactly `YYYY-MM-DDTHH:mm:ss.sssZ`, and a date of the calendar. */
export function isInstant(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text)) return false;
  const atMs = Date.parse(text);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString() === text;
}

const identifier = z.int().gt(0);

/** The fields that the client requires; reviews return them, too. Other fields are passed through (CONTRACT 9). */
export const reportSchema = z.looseObject({
  proposals: z.array(z.looseObject({ id: identifier, asset: z.looseObject({ id: identifier }) })).optional(),
}) satisfies z.ZodType<Report>;

const id = z.int();
const asset = z.object({
  id,
  type: z.enum(assetTypes),
  content: z.string(),
  status: z.enum(["UNKNOWN", "BLOCKED", "ALLOWED"]),
});

export const proposalRecordSchema = z.object({
  id,
  decision: z.enum(proposalDecisions).nullable(),
  decidedBy: z.enum(actors).nullable(),
  needsCustomerReview: z.boolean(),
  asset,
});

/** A report of flatline's own service: every field is present (CONTRACT 9), instants are ISO with ms and Z. */
export const reportRecordSchema = z.object({
  id,
  organization: z.object({ slug: z.string() }),
  createdAt: z.string(),
  updatedAt: z.string(),
  status: z.enum(reportStatuses),
  source: z.enum(reportSources),
  title: z.string().nullable(),
  /** Two letters; null: unknown. The filter `country` compares it. */
  country: z.string().nullable(),
  /** `organization`: the organization itself reported; this is its slug. */
  reporter: z.object({
    kind: z.enum(actors),
    name: z.string().nullable(),
    organization: z.string().nullable(),
  }),
  sla: z.object({ dueAt: z.string(), breached: z.boolean() }).nullable(),
  proposals: z.array(proposalRecordSchema),
  assets: z.array(asset),
  scans: z.array(z.object({ id, assetId: id, status: z.string(), at: z.string() })),
});
export type ReportRecord = z.infer<typeof reportRecordSchema>;

/** A page of flatline's own service; without `cursor` it is the last one. */
export const reportRecordsPageSchema = z.object({
  reports: z.array(reportRecordSchema),
  cursor: z.string().optional(),
});

/** The answer of flatline's own service to a review; every field is present (CONTRACT 9). */
export const reviewRecordSchema = z.object({
  proposal: proposalRecordSchema,
  review: z.object({
    id: z.int(),
    /** WATCHLIST is stored as REJECT. */
    decision: z.enum(["APPROVE", "REJECT"]),
    label: z.string(),
    brandId: z.int().nullable(),
    /** Reason and note. */
    comment: z.string(),
    createdAt: z.string(),
  }),
  watchlisted: z.boolean(),
});
