import { z } from "zod";

import { apiNames, issueMessages, readWith, type FieldNames } from "./issues.ts";

/** The decisions of POST /api/v2/organization/proposals/{proposalId}/review (CONTRACT 9). */
export const reviewDecisions = ["APPROVE", "REJECT", "WATCHLIST"] as const;
export type ReviewDecision = (typeof reviewDecisions)[number];

/** Labels of APPROVE that name a specific target: they need a `brandId`. */
export const targetedLabels = ["Brand Impersonation", "Employee Impersonation"] as const;
/** Labels of APPROVE, in the order of the API's description; what each means is there and in docs/api.md. */
export const approveLabels = [
  ...targetedLabels,
  "Fake Employee",
  "Targeting Org Users",
  "General Phishing",
  "C2 Server",
  "False Positive",
  "Organization Member Impersonation",
  "Targeting Organization",
] as const;
export const rejectReasons = [
  "irrelevant",
  "no_malicious_activity",
  "insufficient_evidence",
  "not_targeting_org",
  "decayed",
] as const;
/** OTHER needs a `note`. */
export const watchlistReasons = ["DEAD", "PARKING", "NOT_ENOUGH_EVIDENCE", "OTHER"] as const;
/** Unicode code points (CONTRACT 9). */
export const longestNote = 1_000;

const positiveInteger = "must be a positive integer";

/** Path and body of the review together. Conditional fields are checked by `parseReviewBody`, not by the type. */
export interface ReviewRequest {
  readonly proposalId: number;
  readonly slug?: string;
  readonly assetId: number;
  readonly decision: ReviewDecision;
  readonly label?: string;
  readonly brandId?: number;
  readonly rejectReason?: string;
  readonly watchlistReason?: string;
  readonly note?: string;
}

const id = z
  .int({ error: ({ input }) => (input === undefined ? undefined : positiveInteger) })
  .gt(0, { error: positiveInteger });
const note = z
  .string()
  .refine((text) => Array.from(text).length <= longestNote, `must be at most ${longestNote} characters long`)
  .meta({ maxLength: longestNote });
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

/** The body in each of its forms, for the API's description: which fields a decision needs. Unknown keys are ignored. */
export const reviewBodySchema = z.union([
  approveTargeted,
  approve.extend({ label: z.enum(approveLabels).exclude([...targetedLabels]) }),
  reject,
  watchlistOther,
  watchlist.extend({ watchlistReason: z.enum(watchlistReasons).exclude(["OTHER"]) }),
]);

/**
 * Path and body together as one request, or one message per problem, conditional fields included; fields of other
 * decisions are ignored and left out (CONTRACT 9, check 2 of the review). `proposalId` is the text in the path; messages call
 * the fields by `names`.
 */
export function parseReviewRequest(
  proposalId: string,
  body: unknown,
  names: FieldNames = apiNames,
):
  | { readonly kind: "request"; readonly request: ReviewRequest }
  | { readonly kind: "issues"; readonly issues: readonly string[] } {
  const number = /^[1-9]\d{0,15}$/.test(proposalId) ? Number(proposalId) : Number.NaN;
  const isProposalId = Number.isSafeInteger(number);
  const read = readWith(schemaFor(body), body, names);
  if (read.kind === "data" && isProposalId) return { kind: "request", request: { proposalId: number, ...read.data } };
  const pathIssues = isProposalId ? [] : [`${names.nameOf("proposalId")}: ${positiveInteger}`];
  return {
    kind: "issues",
    issues: [...pathIssues, ...(read.kind === "data" ? [] : issueMessages(read.problems, names))],
  };
}

/** The schema whose issues are those of this body: chosen by what it says it is, so that nothing is checked twice. */
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

/** What the service answers, passed through as it is. */
export interface ReviewOutcome {
  readonly proposal: unknown;
  readonly review: unknown;
  readonly watchlisted: boolean;
}

/** What the client requires of that answer. */
export const reviewOutcomeSchema = z.looseObject({
  proposal: z.looseObject({}),
  review: z.looseObject({}),
  watchlisted: z.boolean(),
}) satisfies z.ZodType<ReviewOutcome>;
