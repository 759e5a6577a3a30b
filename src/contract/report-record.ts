import { z } from "zod";

const id = z.int();
const asset = z.object({
  id,
  type: z.string(),
  content: z.string(),
  status: z.enum(["UNKNOWN", "BLOCKED", "ALLOWED"]),
});

/** A report as flatline's own service shows it, every field always present (CONTRACT 9); instants are ISO with ms and Z. */
export const reportRecordSchema = z.object({
  id,
  organization: z.object({ slug: z.string() }),
  createdAt: z.string(),
  updatedAt: z.string(),
  status: z.enum(["TODO", "IN_PROGRESS", "CLOSED"]),
  source: z.string(),
  title: z.string().nullable(),
  /** Two letters; null where unknown. What the filter `country` looks at. */
  country: z.string().nullable(),
  /** `organization` is the slug when the organization reported it itself. */
  reporter: z.object({
    kind: z.enum(["human", "automation"]),
    name: z.string().nullable(),
    organization: z.string().nullable(),
  }),
  sla: z.object({ dueAt: z.string(), breached: z.boolean() }).nullable(),
  proposals: z.array(
    z.object({
      id,
      decision: z.enum(["APPROVE", "REJECT"]).nullable(),
      reviewStatus: z.enum(["PENDING", "APPROVED", "REJECTED"]),
      decidedBy: z.enum(["human", "automation"]).nullable(),
      needsCustomerReview: z.boolean(),
      asset,
    }),
  ),
  assets: z.array(asset),
  scans: z.array(z.object({ id, assetId: id, status: z.string(), at: z.string() })),
});
export type ReportRecord = z.infer<typeof reportRecordSchema>;

/** A page of flatline's own service; `cursor` only when more exist. */
export const reportRecordsPageSchema = z.object({
  reports: z.array(reportRecordSchema),
  cursor: z.string().optional(),
});
