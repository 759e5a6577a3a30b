/** API v2 (CONTRACT 9 and 17). `name` is the label `operation` of the request counters (CONTRACT 6). */
export const operations = {
  deadAssetSpike: { name: "dead_asset_spike", method: "POST", path: "/healthchecks/assets/dead-asset-spike" },
  healthcheck: { name: "healthcheck", method: "POST", path: "/healthchecks/{path}" },
  listReports: { name: "list_reports", method: "GET", path: "/organization/reports" },
  reviewProposal: { name: "review_proposal", method: "POST", path: "/organization/proposals/{proposalId}/review" },
} as const satisfies Record<string, Operation>;

export interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
}

export type OperationName = (typeof operations)[keyof typeof operations]["name"];
