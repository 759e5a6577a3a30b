import { askPlatform, type AskedPlatform } from "./access.ts";
import { FlatlineError } from "../../base/errors.ts";
import { secondMs } from "../../base/time.ts";
import { walkReports } from "../../contract/report-pages.ts";
import type { ReviewDecision, ReviewOutcome, ReviewRequest } from "../../contract/review.ts";
import { loadCommandConfig, loadFleetConfig } from "../command-config.ts";
import { askYesNo } from "../questions.ts";
import { command, group } from "../command.ts";
import type { CliContext } from "../context.ts";
import { describeAsset, viewReport, type ProposalView, type ReportView } from "./report-view.ts";
import { readReview, reviewFlags } from "./review-flags.ts";
import { printable } from "../table.ts";

/** A proposal of the review queue. */
interface FoundProposal {
  readonly report: ReportView;
  readonly proposal: ProposalView;
}

const review = command({
  description: "decide on a proposal; irreversible, so it shows the request and asks for confirmation",
  words: [["<id>", "the proposal, as `reports list --needs-customer-review` shows it"]],
  flags: reviewFlags,
  json: "print the service's answer as JSON",
  help: `
Exit code: 0 reviewed, 1 refused by you or by the service, 64 wrong usage, 75 outcome unknown: read
the proposal again before you decide again. A review is never sent twice.

Examples:
  flatline proposals review 301 --decision REJECT --reject-reason irrelevant
  flatline proposals review 301 --decision WATCHLIST --watchlist-reason OTHER --note "parked since May"
  flatline proposals review 301 --decision APPROVE --label "Brand Impersonation" --brand-id 7 --asset-id 501 --dry-run
`,
  run: async ({ context, flags, words: [id] }) => {
    // Validates the flags before anything is asked.
    const wanted = readReview(id, flags, anyAssetId);
    const isInteractive = flags.yes !== true && flags.dryRun !== true;
    if (isInteractive && context.stdin.isTTY !== true)
      throw new FlatlineError("usage", "there is no terminal to ask on: nothing was sent; --yes sends without asking");
    if (flags.dryRun === true) {
      await loadCommandConfig(flags.config, context);
      const { proposalId: _proposalId, ...body } = wanted;
      context.stdout.write(`${JSON.stringify(body)}\n`);
      return undefined;
    }
    const { config } = await loadFleetConfig(flags.config, context);
    // Called twice, so that the store is free while a person thinks.
    const ask = <Answer>(work: (api: AskedPlatform) => Promise<Answer>): Promise<Answer> =>
      askPlatform(config, flags, context, flags.slug, work);
    const found = await ask((api) => findProposal(api, wanted, context));
    const request = readReview(id, flags, found?.proposal.asset.id);
    context.stderr.write(describeReview(request, found, config.source.isLocal));
    const isWanted = !isInteractive || (await askYesNo("Send it? [y/N] ", context));
    if (!isWanted || context.signal.aborted) {
      context.stderr.write("nothing was sent\n");
      context.setExitCode(1);
      return undefined;
    }
    // No signal: Ctrl-C cannot undo a review that was sent, it would only lose the answer.
    return { request, found, outcome: await ask((api) => api.reviewProposal(request)) };
  },
  say: ({ request, found, outcome }) => `${describeOutcome(request, outcome, found)}\n`,
  data: ({ outcome }) => `${JSON.stringify(outcome)}\n`,
});

export const proposals = group("proposals in the customer review queue", { review });

// Stands for the asset until the proposal is found.
const anyAssetId = 1;
const lookupTimeoutMs = 60 * secondMs;

/** Finds the proposal in the customer review queue; null, with the reason on stderr: not there or not readable. */
async function findProposal(
  api: AskedPlatform,
  { proposalId, slug }: ReviewRequest,
  { clock, signal, stderr }: CliContext,
): Promise<FoundProposal | null> {
  const query = { needsCustomerReview: true, ...(slug === undefined ? {} : { slug }) };
  try {
    for await (const report of walkReports(api, query, { signal: clock.timeout(lookupTimeoutMs, signal) })) {
      const view = viewReport(report);
      const proposal = view.proposals.find(({ id }) => id === proposalId);
      if (proposal === undefined) continue;
      // A report is listed if any of its proposals is queued; this one may have been decided before.
      if (proposal.needsCustomerReview === false) {
        const state = proposal.decision ?? "answered";
        stderr.write(
          `proposal ${proposalId} is not in the review queue: ` +
            `its state in report ${view.id ?? "without an id"} is ${state}\n`,
        );
        return null;
      }
      return { report: view, proposal };
    }
    stderr.write(`proposal ${proposalId} is not in the review queue\n`);
  } catch (error) {
    if (!(error instanceof FlatlineError)) throw error;
    stderr.write(`the review queue could not be read: ${error.message}\n`);
  }
  return null;
}

function describeOutcome(
  request: ReviewRequest,
  { review, watchlisted }: ReviewOutcome,
  found: FoundProposal | null,
): string {
  const { decision } = review as { readonly decision?: unknown };
  const status = typeof decision === "string" ? decision : "reviewed";
  const asset = (found === null ? "" : describeAsset(found.proposal)) || `asset ${request.assetId}`;
  return printable(`proposal ${request.proposalId}: ${status}${watchlisted ? `; ${asset} is on the watchlist` : ""}`);
}

/** The effect of each decision, for the confirmation (CONTRACT 9). */
const effects: Readonly<Record<ReviewDecision, string>> = {
  APPROVE:
    "APPROVE blocks the asset for EVERY organization on the platform, not only for yours. The proposal is closed.",
  REJECT: "REJECT closes the proposal; the asset is not blocked, and its status does not change.",
  WATCHLIST:
    "WATCHLIST closes the proposal as rejected; the asset is not blocked now, but is checked again from time to time.",
};

/** Describes a review for its confirmation. */
function describeReview(request: ReviewRequest, found: FoundProposal | null, isOurs: boolean): string {
  const { proposalId, ...body } = request;
  const lines = [
    ...(found === null ? [] : describeFound(request, found)),
    effects[request.decision],
    `To ${isOurs ? "the store of this configuration" : "the service"}: ` +
      `POST /organization/proposals/${proposalId}/review`,
    `  ${JSON.stringify(body)}`,
    "It cannot be undone, and counts as one of ten reviews by API in 24 hours.",
  ];
  return lines.map((line) => `${printable(line)}\n`).join("");
}

function describeFound({ proposalId, assetId }: ReviewRequest, { report, proposal }: FoundProposal): string[] {
  const { id = "without an id", organization, title, status, source, createdAt } = report;
  const { asset } = proposal;
  const facts = [
    organization?.slug && `organization ${organization.slug}`,
    title,
    status,
    source && `from ${source}`,
    createdAt && `created ${createdAt}`,
  ].filter((fact) => fact !== undefined);
  const lines = [
    `Proposal ${proposalId} of report ${[id, facts.join(", ")].filter(Boolean).join(": ")}`,
    `  asset ${asset.id}: ${[describeAsset(proposal), asset.status].filter(Boolean).join(", ")}`,
  ];
  return asset.id === assetId
    ? lines
    : [...lines, `  NOT the asset ${assetId} that you decided about: the service will refuse this.`];
}
