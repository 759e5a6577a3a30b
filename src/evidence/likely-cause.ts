import { formatPercent } from "../base/numbers.ts";
import { formatCount } from "../base/numbers.ts";
import { assetTypeAttribute, carrierText, type Carrier } from "./attribution.ts";

/** What a spike most likely comes from. */
export type LikelyCause = "checker" | "assets" | "unclear";

/** What is known of a spike's deaths. */
export interface CauseEvidence {
  /** The surest first. */
  readonly carriers: readonly Carrier[];
  /** Share (0–1) of the window's deaths that have any attribute. */
  readonly attributedShare: number;
  /** Whether the fleet verdict holds. */
  readonly isFleet: boolean;
  /** Of the window's deaths, those whose asset is known, and of these, those whose asset was alive later. */
  readonly judgedCount: number;
  readonly revivedCount: number;
}

// Most of the deaths share the value, and at the cautious end of the interval still more of them than usually do.
const concentratedShare = 0.5;
const concentratedLift = 0.1;
// On real records of liveness checkers a quiet day has its errors, too (examples/records); fewer than three prove nothing.
const revivedShare = 0.2;
const leastRevived = 3;
// With attributes of fewer deaths than this, "spread as usual" would be said of the smaller part.
const leastAttributedShare = 0.5;

/** The likely cause with a sentence that says why; the strongest reason first. */
export function likelyCause(evidence: CauseEvidence): { readonly cause: LikelyCause; readonly reason: string } {
  const { isFleet, judgedCount, revivedCount, attributedShare } = evidence;
  if (isFleet) {
    return { cause: "checker", reason: "Many organizations spike at once, which attackers do not arrange." };
  }
  const revived = judgedCount === 0 ? 0 : revivedCount / judgedCount;
  if (revivedCount >= leastRevived && revived >= revivedShare) {
    const reason = `${formatCount(revivedCount)} of ${formatCount(judgedCount)} dead assets (${formatPercent(revived)}) were found alive again.`;
    return { cause: "checker", reason };
  }
  const carrier = evidence.carriers.find(
    ({ share, liftLower, baselineShare }) =>
      baselineShare !== null && share >= concentratedShare && liftLower >= concentratedLift,
  );
  if (carrier !== undefined) {
    const what = carrier.attribute === assetTypeAttribute ? "one asset type" : "one value";
    return { cause: "checker", reason: `The deaths are concentrated in ${what}: ${carrierText(carrier)}.` };
  }
  if (attributedShare >= leastAttributedShare && evidence.carriers.length === 0) {
    const again = revivedCount === 0 ? "" : `, and only ${revivedCount} of ${judgedCount} were found alive again`;
    return { cause: "assets", reason: `The deaths are spread over the attributes much as usual${again}.` };
  }
  return { cause: "unclear", reason: unclearReason(evidence.carriers) };
}

function unclearReason([first]: readonly Carrier[]): string {
  if (first === undefined)
    return "Neither attributes nor assets found alive again tell the checker's errors from real deaths.";
  if (first.baselineShare === null) return "There were no deaths before to compare with.";
  return `One value stands out, but not in most of the deaths: ${carrierText(first)}.`;
}
