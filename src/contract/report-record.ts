import { z } from "zod";

import { assetTypes } from "./asset-types.ts";
import { actors, proposalDecisions, reportSources, reportStatuses } from "./report-values.ts";

const id = z.int();
const asset = z.object({
  id,
  type: z.enum(assetTypes),
  content: z.string(),
  status: z.enum(["UNKNOWN", "BLOCKED", "ALLOWED"]),
});

/** A proposal in flatline's own service, in a report and in the answer to a review. */
export const proposalRecordSchema = z.object({
  id,
  decision: z.enum(proposalDecisions).nullable(),
  decidedBy: z.enum(actors).nullable(),
  needsCustomerReview: z.boolean(),
  asset,
});

/** A report in flatline's own service; every field is always present (CONTRACT 9), instants are ISO with ms and Z. */
export const reportRecordSchema = z.object({
  id,
  organization: z.object({ slug: z.string() }),
  createdAt: z.string(),
  updatedAt: z.string(),
  status: z.enum(reportStatuses),
  source: z.enum(reportSources),
  title: z.string().nullable(),
  /** Two letters; null if unknown. Used by the filter `country`. */
  country: z.string().nullable(),
  /** `organization` is the slug if the organization itself reported. */
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

/** A page of flatline's own service; `cursor` is present only if more reports exist. */
export const reportRecordsPageSchema = z.object({
  reports: z.array(reportRecordSchema),
  cursor: z.string().optional(),
});

/** The answer of flatline's own service to a review; every field is always present (CONTRACT 9). */
export const reviewRecordSchema = z.object({
  proposal: proposalRecordSchema,
  review: z.object({
    id: z.int(),
    /** WATCHLIST is stored as REJECT. */
    decision: z.enum(["APPROVE", "REJECT"]),
    /** "" without one. */
    label: z.string(),
    brandId: z.int().nullable(),
    /** Composed of reason and note. */
    comment: z.string(),
    createdAt: z.string(),
  }),
  watchlisted: z.boolean(),
});
