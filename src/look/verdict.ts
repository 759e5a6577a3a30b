import {
  showsDeath,
  showsLife,
  type LookAnswer,
  type LookRole,
  type OpinionCounts,
} from "../contract/second-opinion.ts";
import type { Planned } from "./plan.ts";
import { accuracyOf, posteriorOfMostAlive } from "./posterior.ts";

/** The parts of an answer that the verdict needs. Sentinels do not show what the checker does. */
export type CountedAnswer = Pick<Planned, "role" | "isSentinel"> & { readonly answer: LookAnswer };

// CONTRACT 16.
const leastAsked = 10;
const refutedFrom = 0.95;
const confirmedTo = 0.05;
const leastDeathShare = 0.5;
const leastLiving = 10;
const mostDeadLivingShare = 0.1;
// Sensitivity + specificity. A verifier with 1 is no better than a coin.
const leastAccuracy = 1.2;
// With so many living controls, a verifier fails if it finds less than half of them alive.
const leastLivingToFail = 5;

export function judgeLook(answers: readonly CountedAnswer[]): OpinionCounts {
  const of = (role: LookRole): readonly CountedAnswer[] => answers.filter((one) => one.role === role);
  const controls = { alive: countLife(of("alive")), dead: countLife(of("dead")) };
  const { asked, alive } = countLife(of("sample"));
  const gone = of("sample").filter(({ answer }) => showsDeath(answer)).length;
  const counts = { asked, alive, gone, controls };
  if (controls.alive.asked >= leastLivingToFail && 2 * controls.alive.alive < controls.alive.asked)
    return { ...counts, verdict: "undecided", failure: "controls" };
  const accuracy = accuracyOf(controls.alive, controls.dead);
  if (asked < leastAsked || accuracy.sensitivity + accuracy.specificity < leastAccuracy)
    return { ...counts, verdict: "undecided" };
  const probability = posteriorOfMostAlive(alive, asked, accuracy);
  if (probability >= refutedFrom) return { ...counts, verdict: "refuted" };
  // A verifier that calls living assets dead confirms nothing. Sentinels are too easy to show that.
  const living = of("alive").filter(({ isSentinel }) => !isSentinel);
  const wrong = living.filter(({ answer }) => showsDeath(answer)).length;
  const isRightOfLiving = living.length >= leastLiving && wrong <= mostDeadLivingShare * living.length;
  const isConfirmed = probability <= confirmedTo && gone >= leastDeathShare * asked && isRightOfLiving;
  return { ...counts, verdict: isConfirmed ? "confirmed" : "undecided" };
}

function countLife(answers: readonly CountedAnswer[]): OpinionCounts["controls"]["alive"] {
  return { asked: answers.length, alive: answers.filter(({ answer }) => showsLife(answer)).length };
}
