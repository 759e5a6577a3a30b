import { z } from "zod";
import type { Report } from "../../contract/reports.ts";

// What is null, or of another type, is not shown.
const text = z.union([z.string(), z.number()]).transform(String).optional().catch(undefined);

/**
 * The fields of a report that are shown; a service may omit everything except the proposals' ids (CONTRACT 9, the client).
 */
const viewSchema = z.looseObject({
  id: text,
  createdAt: text,
  status: text,
  source: text,
  title: text,
  organization: z.looseObject({ slug: text }).optional().catch(undefined),
  proposals: z
    .array(
      z.looseObject({
        id: z.number(),
        decision: text,
        needsCustomerReview: z.boolean().optional().catch(undefined),
        asset: z.looseObject({ id: z.number(), type: text, content: text, status: text }),
      }),
    )
    .default([]),
});

export type ReportView = z.infer<typeof viewSchema>;
export type ProposalView = ReportView["proposals"][number];

/** Returns the report with every field as text; missing fields and those of another type are absent. */
export function viewReport(report: Report): ReportView {
  return viewSchema.parse(report);
}

/** Describes the asset of a proposal in a line. */
export function describeAsset({ asset: { type = "", content = "" } }: ProposalView): string {
  return `${type} ${content}`.trim();
}
