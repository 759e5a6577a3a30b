import { z } from "zod";

/** Query of GET /api/v2/organization/reports; names marked (ours) are not the API's (CONTRACT 9). */
export interface ReportsQuery {
  readonly slug?: string;
  readonly cursor?: string;
  readonly limit?: number;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly onlyRejected?: boolean;
  readonly needsCustomerReview?: boolean;
  /** (ours) */
  readonly status?: string;
  /** (ours) */
  readonly decision?: string;
  /** (ours) */
  readonly assetType?: string;
  /** (ours) */
  readonly source?: string;
  /** (ours) */
  readonly reportedBy?: "human" | "automation";
  /** (ours) */
  readonly reviewedBy?: "human" | "automation";
  /** (ours) two letters */
  readonly country?: string;
}

/** What the client requires of a report: the rest is optional and passed through (CONTRACT 9, the client). */
export const reportSchema = z.looseObject({
  proposals: z
    .array(z.looseObject({ id: z.union([z.number(), z.string()]), asset: z.looseObject({ id: z.union([z.number(), z.string()]) }) }))
    .optional(),
});
export type Report = z.infer<typeof reportSchema>;

export interface ReportsPage {
  readonly reports: readonly Report[];
  /** Present only when more exist. */
  readonly cursor?: string;
}
