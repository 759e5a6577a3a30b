import { opinionWords, type OpinionCounts } from "../contract/second-opinion.ts";
import { formatPercent } from "../base/numbers.ts";
import { speaksForChecker } from "../contract/judgement.ts";
import { assetTypeAttribute, carrierText, type Carrier } from "./attribution.ts";
import { leastQuietDeaths } from "./quiet-days.ts";
import type { Regret } from "./regret.ts";

export type LikelyCause = "checker" | "assets" | "unclear";

/** A cause, with the sentence that says why; null: there is nothing to say. */
interface CauseText {
  readonly cause: LikelyCause;
  readonly reason: string | null;
}

export interface CauseEvidence extends Regret {
  /** The surest first. */
  readonly carriers: readonly Carrier[];
  /** Largest rise of the share of any value (0–1); null: there is nothing to compare with. */
  readonly largestRise: number | null;
  /** Deaths of the quiet days that the window is compared with; null: they could not be read. */
  readonly baselineCount: number | null;
  /** Share (0–1) of the window's deaths that have any attribute. */
  readonly attributedShare: number;
  /** The verifier's second opinion on the incident's dead assets; null: there is none. */
  readonly opinion: OpinionCounts | null;
}

// A value is concentrated when most of the deaths share it, and the lower bound of its rise is at least this.
const concentratedShare = 0.5;
const concentratedLift = 0.1;
// If fewer deaths have attributes, "spread as usual" would be said of the smaller part.
const leastAttributedShare = 0.5;
// A checker that breaks for a third of its looks stays below this.
const mostRise = 0.35;

/** Returns the likely cause with a sentence that says why; the strongest reason first. */
export function likelyCause(evidence: CauseEvidence): CauseText {
  const { opinion, judgedCount, revivedCount, attributedShare, largestRise } = evidence;
  if (opinion !== null && opinion.verdict !== "undecided") {
    const cause = opinion.verdict === "refuted" ? "checker" : "assets";
    return { cause, reason: `Of dead assets that were looked at, ${opinionWords(opinion)}.` };
  }
  const revived = causeByRevivals(evidence);
  if (revived !== null) return revived;
  const hasAttributes = attributedShare >= leastAttributedShare;
  if (evidence.baselineCount !== null && evidence.baselineCount < leastQuietDeaths && hasAttributes)
    return {
      cause: "unclear",
      reason: `Fewer than ${leastQuietDeaths} deaths on quiet days before: nothing to compare with.`,
    };
  const carrier = concentratedCarrier(evidence.carriers);
  if (carrier !== null)
    return { cause: "checker", reason: `The deaths are concentrated in one value: ${carrierText(carrier)}.` };
  const ofType = evidence.carriers.find(isConcentrated);
  // The end of a campaign also has one type of asset.
  if (ofType !== undefined)
    return { cause: "unclear", reason: `The deaths are concentrated in one asset type: ${carrierText(ofType)}.` };
  if (hasAttributes && largestRise !== null && largestRise < mostRise) {
    const again = revivedCount === 0 ? "" : `, and ${revivedCount} of ${judgedCount} were found alive`;
    return { cause: "assets", reason: `The deaths are spread over the attributes much as usual${again}.` };
  }
  return { cause: "unclear", reason: unclearReason(evidence.carriers) };
}

/** Returns the first concentrated value of an attribute, which is no asset type; null: none. */
export function concentratedCarrier(carriers: readonly Carrier[]): Carrier | null {
  return carriers.find((one) => one.attribute !== assetTypeAttribute && isConcentrated(one)) ?? null;
}

function isConcentrated({ share, liftLower, baselineShare }: Carrier): boolean {
  return baselineShare !== null && share >= concentratedShare && liftLower >= concentratedLift;
}

/** Returns what revivals alone say; null: nothing yet. */
function causeByRevivals({ judgedCount, revivedCount }: Regret): CauseText | null {
  const share = judgedCount === 0 ? 0 : revivedCount / judgedCount;
  if (!speaksForChecker({ revivedCount, share })) return null;
  return {
    cause: "checker",
    reason: `${revivedCount} of ${judgedCount} dead assets (${formatPercent(share)}) were found alive.`,
  };
}

function unclearReason([first]: readonly Carrier[]): string | null {
  if (first === undefined) return null;
  return `One value stands out, but not in most of the deaths: ${carrierText(first)}.`;
}
