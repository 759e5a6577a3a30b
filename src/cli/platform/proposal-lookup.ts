import { FlatlineError } from "../../base/errors.ts";
import { secondMs } from "../../base/time.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import { walkReports } from "../../contract/report-pages.ts";
import type { CliContext } from "../context.ts";
import { describeAsset, viewReport, type ProposalView, type ReportView } from "./report-view.ts";
import type { WantedReview } from "./review-flags.ts";

/** A proposal of the review queue, as shown to people. */
export interface FoundProposal {
  readonly report: ReportView;
  readonly proposal: ProposalView;
  /** Type and content of the asset. */
  readonly asset: string;
}

// A queue that takes longer to read is too long to be useful.
const lookupTimeoutMs = 60 * secondMs;

/**
 * Finds the proposal in the customer review queue, read-only. Returns null and explains on stderr if it is not there or the
 * queue cannot be read: the service decides about the review anyway.
 */
export async function findProposal(
  api: Pick<PlatformApi, "listReports">,
  { request }: WantedReview,
  { clock, signal, stderr }: Pick<CliContext, "clock" | "signal" | "stderr">,
): Promise<FoundProposal | null> {
  const query = { needsCustomerReview: true, ...(request.slug === undefined ? {} : { slug: request.slug }) };
  try {
    for await (const report of walkReports(api, query, { signal: clock.timeout(lookupTimeoutMs, signal) })) {
      const view = viewReport(report);
      const proposal = view.proposals.find(({ id }) => id === request.proposalId);
      if (proposal === undefined) continue;
      // A report is listed if any of its proposals is queued; this one may have been decided before.
      if (proposal.needsCustomerReview === false) {
        const state = proposal.decision ?? "answered";
        stderr.write(
          `proposal ${request.proposalId} is not in the review queue: its state in report ${view.id ?? "without an id"} is ${state}\n`,
        );
        return null;
      }
      return { report: view, proposal, asset: describeAsset(proposal.asset) };
    }
    stderr.write(`proposal ${request.proposalId} is not in the review queue\n`);
  } catch (error) {
    if (!(error instanceof FlatlineError)) throw error;
    stderr.write(`the review queue could not be read: ${error.message}\n`);
  }
  return null;
}
