import { InvalidArgumentError } from "commander";

import { FlatlineError } from "../../base/errors.ts";
import { choicesText, type NameOf } from "../../contract/issues.ts";
import { parseReviewRequest } from "../../contract/review-body.ts";
import {
  approveLabels,
  rejectReasons,
  reviewDecisions,
  watchlistReasons,
  type ReviewDecision,
  type ReviewRequest,
} from "../../contract/review.ts";
import { configFlag, flag, flagName, required, value, type FlagsOf } from "../command.ts";

/** Returns the flag of a field of the API: `--asset-id` for `assetId`. */
export const flagNames: NameOf = (field) => (field === "proposalId" ? "ID" : flagName(field));

/** The flags of `proposals review`. */
export const reviewFlags = {
  decision: required(value("<decision>", "APPROVE, REJECT or WATCHLIST", oneOf(reviewDecisions))),
  assetId: value("<id>", "the asset of the decision; required with --yes and --dry-run"),
  label: value("<label>", `with APPROVE: ${approveLabels.join(", ")}`, oneOf(approveLabels)),
  brandId: value("<id>", "with APPROVE: the brand; required for Brand and Employee Impersonation"),
  rejectReason: value("<reason>", `with REJECT: ${rejectReasons.join(", ")}`, oneOf(rejectReasons)),
  watchlistReason: value("<reason>", `with WATCHLIST: ${watchlistReasons.join(", ")}`, oneOf(watchlistReasons)),
  note: value("<text>", "the reason, at most 1000 characters; required with --watchlist-reason OTHER"),
  slug: value("<slug>", "organization; required if the key or the configuration has several"),
  by: value("<name>", "who decides, where the service is the embedded one [the operating system's user]"),
  yes: flag("send it without asking"),
  dryRun: flag("print the body of the request, and send nothing"),
  yesBlockFalsePositive: flag('let APPROVE have the label "False Positive", which blocks the asset for everyone'),
  ...configFlag,
};
export type ReviewFlags = FlagsOf<typeof reviewFlags>;

/** Returns a parser for one of these values, in any case. */
function oneOf<Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const chosen = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
    if (chosen === undefined) throw new InvalidArgumentError(`Expected ${choicesText(text, choices)}`);
    return chosen;
  };
}

/** The flags that belong to one decision only. */
const ofDecision = {
  label: "APPROVE",
  brandId: "APPROVE",
  rejectReason: "REJECT",
  watchlistReason: "WATCHLIST",
} as const satisfies Partial<Record<keyof ReviewFlags, ReviewDecision>>;

/**
 * Parses the flags with their conditions (CONTRACT 3 and 9). A flag of another decision is refused. `found` is the
 * asset when no flag names one; undefined: none was found. @throws usage with one issue per problem
 */
export function readReview(id: string, flags: ReviewFlags, found: number | undefined): ReviewRequest {
  const { decision, label, rejectReason, watchlistReason, note, slug } = flags;
  const assetId = integerOf(flags.assetId) ?? found;
  if (assetId === undefined)
    throw new FlatlineError(
      "usage",
      "--asset-id is needed: the proposal is not in the review queue that could be read",
    );
  const given = {
    assetId,
    decision,
    label,
    rejectReason,
    watchlistReason,
    note,
    slug,
    brandId: integerOf(flags.brandId),
  };
  const parsed = parseReviewRequest(
    id,
    Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined)),
    flagNames,
  );
  const foreign = (Object.keys(ofDecision) as (keyof typeof ofDecision)[])
    .filter((name) => flags[name] !== undefined && ofDecision[name] !== decision)
    .map((name) => `${flagNames(name)}: goes with ${ofDecision[name]} only`);
  const isUnattended = flags.yes === true || flags.dryRun === true;
  const missing =
    isUnattended && flags.assetId === undefined
      ? ["--asset-id: required with --yes and --dry-run: name the asset of the decision"]
      : [];
  const issues = [...(parsed.kind === "issues" ? parsed.issues : []), ...foreign, ...missing];
  if (parsed.kind === "issues" || issues.length > 0)
    throw new FlatlineError("usage", `this review with --decision ${decision} cannot be sent:`, { issues });
  // APPROVE blocks the asset; REJECT is most likely meant.
  if (decision === "APPROVE" && label === "False Positive" && flags.yesBlockFalsePositive !== true)
    throw new FlatlineError(
      "usage",
      "APPROVE blocks the asset for every organization, with the label False Positive too: " +
        "a good asset would be blocked for everyone. " +
        "To leave it alone, reject the proposal: --decision REJECT --reject-reason no_malicious_activity. " +
        "If you do mean to block it: --yes-block-false-positive",
    );
  return parsed.request;
}

/** Returns the text as an integer if it is one; the schema validates it. */
function integerOf(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : text;
}
