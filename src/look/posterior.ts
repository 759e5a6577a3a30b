import type { ControlCounts } from "../contract/second-opinion.ts";

/** How often a verifier is right about living and about dead assets; between 0 and 1, exclusive. */
export interface Accuracy {
  readonly sensitivity: number;
  readonly specificity: number;
}

// Fewer controls say less than a careful guess (CONTRACT 16).
const leastControls = 10;

/** Returns the accuracy of a verifier, from the controls of the same question. */
export function accuracyOf(living: ControlCounts, dead: ControlCounts): Accuracy {
  const share = ({ asked, alive }: ControlCounts): number => (alive + 0.5) / (asked + 1);
  return {
    sensitivity: living.asked < leastControls ? 0.8 : share(living),
    specificity: dead.asked < leastControls ? 0.9 : 1 - share(dead),
  };
}

/**
 * Returns the posterior probability that more than half of all assets are alive, when `alive` of `asked` showed life.
 * Their share a has the prior Beta(½, ½); `alive` is binomial with `asked` and p(a) = a·s + (1 − a)(1 − c). With a =
 * sin²θ the prior is uniform over θ in [0, π/2], and the likelihood p^k (1 − p)^(n−k) is Σ cₘ cos 2mθ with m ≤ n. The
 * cₘ are exact sums over n + 1 points (discrete cosine transform). The integral over [π/4, π/2] is c₀π/4 − Σ cₘ
 * sin(mπ/2) / 2m, the whole one c₀π/2. Only rounding is inexact.
 */
export function posteriorOfMostAlive(alive: number, asked: number, { sensitivity, specificity }: Accuracy): number {
  const points = asked + 1;
  const angles = Array.from({ length: points }, (_, index) => ((index + 0.5) * Math.PI) / (2 * points));
  const logs = angles.map((angle) => {
    const share = Math.sin(angle) ** 2;
    const shown = share * sensitivity + (1 - share) * (1 - specificity);
    return alive * Math.log(shown) + (asked - alive) * Math.log1p(-shown);
  });
  // Only ratios count. Without the division by the largest the values would underflow.
  const largest = Math.max(...logs);
  const likelihoods = logs.map((log) => Math.exp(log - largest));
  const coefficient = (order: number): number =>
    (2 / points) * likelihoods.reduce((sum, value, at) => sum + value * Math.cos(2 * order * (angles[at] ?? 0)), 0);
  let upper = 0;
  // Even orders add nothing.
  for (let order = 1; order <= asked; order += 2)
    upper -= (coefficient(order) * (order % 4 === 1 ? 1 : -1)) / (2 * order);
  return Math.min(1, Math.max(0, 0.5 + upper / (coefficient(0) * (Math.PI / 4))));
}
