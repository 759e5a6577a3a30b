/** Where a report stands. */
export const reportStatuses = ["TODO", "IN_PROGRESS", "CLOSED"] as const;
export type ReportStatus = (typeof reportStatuses)[number];

/** Where a report came from. */
export const reportSources = ["APP", "API", "CANARY_TOKEN", "AUTO_DETECTION", "ASSET_MANAGEMENT"] as const;
export type ReportSource = (typeof reportSources)[number];

/** What was decided about a proposal. */
export const proposalDecisions = ["APPROVE", "REJECT", "SKIP", "ESCALATE"] as const;
export type ProposalDecision = (typeof proposalDecisions)[number];

/** Who reported, and who decided. */
export const actors = ["human", "automation"] as const;
export type Actor = (typeof actors)[number];
