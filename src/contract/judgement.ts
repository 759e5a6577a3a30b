/** `checker`: it was wrong; `real`: the assets died; `expected`: it was known beforehand. */
export const judgementVerdicts = ["checker", "real", "expected"] as const;
export type JudgementVerdict = (typeof judgementVerdicts)[number];

// Real mass deaths are partly reversed, too (docs/detection.md, regret); fewer than three prove nothing.
const proposedShare = 0.5;
const leastRevived = 3;

/** Returns whether so many assets were found alive that the checker is likely to be wrong. */
export function speaksForChecker({ revivedCount, share }: RevivedShare): boolean {
  return revivedCount >= leastRevived && share >= proposedShare;
}

/** How many deaths were reversed, and their share (0–1) of the deaths of known assets. */
export interface RevivedShare {
  readonly revivedCount: number;
  readonly share: number;
}
