import type { ReviewDecision, ReviewRequest } from "../../contract/review.ts";
import type { FoundProposal } from "./proposal-lookup.ts";
import { printable } from "../table.ts";

/** The effect of each decision, for the confirmation (CONTRACT 9). */
const effects: Readonly<Record<ReviewDecision, string>> = {
  APPROVE:
    "APPROVE blocks the asset for EVERY organization on the platform, not only for yours. The proposal is closed.",
  REJECT: "REJECT closes the proposal; the asset is not blocked, and its status does not change.",
  WATCHLIST:
    "WATCHLIST closes the proposal as rejected; the asset is not blocked now, but is checked again from time to time.",
};

/** Describes a review before it is confirmed: proposal, asset, report, effect and request. */
export function describeReview(request: ReviewRequest, found: FoundProposal | null, isOurs: boolean): string {
  const { proposalId, ...body } = request;
  const place = isOurs ? "the store of this configuration" : "the service";
  const lines = [
    ...(found === null ? [] : describeFound(request, found)),
    effects[request.decision],
    `To ${place}: POST /organization/proposals/${proposalId}/review`,
    `  ${JSON.stringify(body)}`,
    "It cannot be undone, and counts as one of ten reviews by API in 24 hours.",
  ];
  return `${lines.map(printable).join("\n")}\n`;
}

function describeFound({ proposalId, assetId }: ReviewRequest, { report, proposal, asset }: FoundProposal): string[] {
  const facts = [
    report.organization?.slug === undefined || report.organization.slug === null
      ? null
      : `organization ${report.organization.slug}`,
    report.title,
    report.status,
    report.source === undefined || report.source === null ? null : `from ${report.source}`,
    report.createdAt === undefined || report.createdAt === null ? null : `created ${report.createdAt}`,
  ].filter((fact) => fact !== null && fact !== undefined);
  const { id, status } = proposal.asset;
  const isOther = id !== assetId;
  return [
    `Proposal ${proposalId} of report ${report.id ?? "without an id"}${facts.length === 0 ? "" : `: ${facts.join(", ")}`}`,
    `  asset ${id}: ${asset}${status === undefined || status === null ? "" : `, ${status}`}`,
    ...(isOther ? [`  NOT the asset ${assetId} that you decided about: the service will refuse this.`] : []),
  ];
}
