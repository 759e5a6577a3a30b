import { z } from "zod";
import type { Report } from "../../contract/reports.ts";

// null and other types are not shown.
const text = z.union([z.string(), z.number()]).transform(String).optional().catch(undefined);

/** The shown fields of a report; a service may omit all but the ids of proposals (CONTRACT 9, the client). */
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

/** Returns the shown fields as text; missing fields and those of another type are absent. */
export function viewReport(report: Report): ReportView {
  return viewSchema.parse(report);
}

/** Returns type and content of a proposal's asset. */
export function describeAsset({ asset: { type = "", content = "" } }: ProposalView): string {
  return `${type} ${content}`.trim();
}
