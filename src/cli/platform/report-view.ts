import { z } from "zod";
import type { Report } from "../../contract/reports.ts";

const text = z.union([z.string(), z.number()]).transform(String).nullish().catch(undefined);
const assetSchema = z.looseObject({ id: z.number(), type: text, content: text, status: text });

/** What people are shown of a report; a service may leave anything out but the proposals' ids (CONTRACT 9, the client). */
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
        asset: assetSchema,
      }),
    )
    .default([]),
});

export type ReportView = z.infer<typeof viewSchema>;
export type ProposalView = ReportView["proposals"][number];
export type AssetView = ProposalView["asset"];

/** The report with every field as text, absent where it is not there or of another shape. */
export function viewReport(report: Report): ReportView {
  return viewSchema.parse(report);
}

/** One asset in a line. */
export function describeAsset({ type, content }: Partial<Pick<AssetView, "type" | "content">>): string {
  return [type, content].filter((part) => part !== undefined && part !== null).join(" ");
}

/** A proposal in a word: `301 queued`, `302 REJECT`. */
export function describeProposal({ id, decision, needsCustomerReview }: ProposalView): string {
  const state = needsCustomerReview === true ? "queued" : decision;
  return [id, state].filter((part) => part !== undefined && part !== null).join(" ");
}
