import { z } from "zod";
import type { Report } from "../../contract/reports.ts";

const text = z.union([z.string(), z.number()]).transform(String).nullish().catch(undefined);
const assetSchema = z.looseObject({ id: z.number(), type: text, content: text, status: text });

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
        asset: assetSchema,
      }),
    )
    .default([]),
});

export type ReportView = z.infer<typeof viewSchema>;
export type ProposalView = ReportView["proposals"][number];
export type AssetView = ProposalView["asset"];

/** Returns the report with every field as text; missing fields and those of another type are absent. */
export function viewReport(report: Report): ReportView {
  return viewSchema.parse(report);
}

/** Describes one asset in a line. */
export function describeAsset({ type, content }: Partial<Pick<AssetView, "type" | "content">>): string {
  return [type, content].filter((part) => part !== undefined && part !== null).join(" ");
}

/** Describes a proposal: `301 queued`, `302 REJECT`. */
export function describeProposal({ id, decision, needsCustomerReview }: ProposalView): string {
  const state = needsCustomerReview === true ? "queued" : decision;
  return [id, state].filter((part) => part !== undefined && part !== null).join(" ");
}
