/** Status of a report. */
export const reportStatuses = ["TODO", "IN_PROGRESS", "CLOSED"] as const;
export type ReportStatus = (typeof reportStatuses)[number];

/** Source of a report. */
export const reportSources = ["APP", "API", "CANARY_TOKEN", "AUTO_DETECTION", "ASSET_MANAGEMENT"] as const;
export type ReportSource = (typeof reportSources)[number];

/** Decision about a proposal. */
export const proposalDecisions = ["APPROVE", "REJECT", "SKIP", "ESCALATE"] as const;
export type ProposalDecision = (typeof proposalDecisions)[number];

/** The actors who report or decide. */
export const actors = ["human", "automation"] as const;
export type Actor = (typeof actors)[number];
