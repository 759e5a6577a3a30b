import { z } from "zod";

import { textUpTo } from "../base/schema/values.ts";
import { issueMessages, readWith, type NameOf } from "./issues.ts";
import {
  approveLabels,
  longestNote,
  rejectReasons,
  reviewDecisions,
  targetedLabels,
  watchlistReasons,
  type ReviewOutcome,
  type ReviewRequest,
} from "./review.ts";

const positiveInteger = "must be a positive integer";

const id = z
  .int({ error: ({ input }) => (input === undefined ? undefined : positiveInteger) })
  .gt(0, { error: positiveInteger });
const note = textUpTo(longestNote);
const common = { assetId: id, slug: z.string().min(1).exactOptional(), note: note.exactOptional() };

const anyDecision = z.object({ ...common, decision: z.enum(reviewDecisions) });
const approve = z.object({
  ...common,
  decision: z.literal("APPROVE"),
  label: z.enum(approveLabels),
  brandId: id.exactOptional(),
});
const approveTargeted = approve.extend({ label: z.enum(targetedLabels), brandId: id });
const reject = z.object({ ...common, decision: z.literal("REJECT"), rejectReason: z.enum(rejectReasons) });
const watchlist = z.object({ ...common, decision: z.literal("WATCHLIST"), watchlistReason: z.enum(watchlistReasons) });
const watchlistOther = watchlist.extend({
  watchlistReason: z.literal("OTHER"),
  note: note
    .refine((text) => text.trim() !== "", "must not be blank when the reason is OTHER")
    .meta({ maxLength: longestNote, pattern: "\\S" }),
});

/** All forms of the body, for the API's description: each decision needs other fields. Unknown keys are ignored. */
export const reviewBodySchema = z.union([
  approveTargeted,
  approve.extend({ label: z.enum(approveLabels).exclude([...targetedLabels]) }),
  reject,
  watchlistOther,
  watchlist.extend({ watchlistReason: z.enum(watchlistReasons).exclude(["OTHER"]) }),
]);

/**
 * Returns the request, or one message per problem, conditional fields included. Drops the fields of other decisions
 * (CONTRACT 9, check 2 of the review). `proposalId` is the text in the path; `nameOf` names the fields.
 */
export function parseReviewRequest(
  proposalId: string,
  body: unknown,
  nameOf: NameOf = String,
):
  | { readonly kind: "request"; readonly request: ReviewRequest }
  | { readonly kind: "issues"; readonly issues: readonly string[] } {
  const number = /^[1-9]\d{0,15}$/.test(proposalId) ? Number(proposalId) : Number.NaN;
  const isProposalId = Number.isSafeInteger(number);
  const read = readWith(schemaFor(body), body);
  if (read.kind === "data" && isProposalId) return { kind: "request", request: { proposalId: number, ...read.data } };
  const pathIssues = isProposalId ? [] : [`${nameOf("proposalId")}: ${positiveInteger}`];
  return {
    kind: "issues",
    issues: [...pathIssues, ...(read.kind === "data" ? [] : issueMessages(read.problems, nameOf))],
  };
}

/** Returns the schema of the decision in the body, so that nothing is checked twice. */
function schemaFor(body: unknown): z.ZodType<Omit<ReviewRequest, "proposalId">> {
  if (typeof body !== "object" || body === null) return anyDecision;
  const { decision, label, watchlistReason } = body as Readonly<Record<string, unknown>>;
  switch (decision) {
    case "APPROVE":
      return targetedLabels.some((targeted) => targeted === label) ? approveTargeted : approve;
    case "REJECT":
      return reject;
    case "WATCHLIST":
      return watchlistReason === "OTHER" ? watchlistOther : watchlist;
    default:
      return anyDecision;
  }
}

/** The fields of the answer that the client requires. */
export const reviewOutcomeSchema = z.looseObject({
  proposal: z.looseObject({}),
  review: z.looseObject({}),
  watchlisted: z.boolean(),
}) satisfies z.ZodType<ReviewOutcome>;
