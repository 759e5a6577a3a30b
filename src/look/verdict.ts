import {
  showsDeath,
  showsLife,
  type ControlCounts,
  type LookAnswer,
  type LookRole,
  type OpinionVerdict,
} from "../contract/second-opinion.ts";
import { accuracyOf, posteriorOfMostAlive } from "./posterior.ts";

/** An answer as far as the verdict needs it. */
export interface CountedAnswer {
  readonly role: LookRole;
  readonly answer: LookAnswer;
  /** It was asked over HTTP or by the verifier, or a rule kept it from being asked so; false: by DNS alone. */
  readonly isAsked: boolean;
  /** A control that the operator named, which says nothing of the checker. */
  readonly isSentinel: boolean;
}

/** What a look says of an incident: of `asked` dead assets `alive` showed life and `gone` death. */
export interface Opinion {
  readonly asked: number;
  readonly alive: number;
  readonly gone: number;
  readonly verdict: OpinionVerdict;
  readonly controls: Readonly<Record<"alive" | "dead", ControlCounts>>;
}

// All of CONTRACT 16.
const leastAsked = 10;
const refutedFrom = 0.95;
const confirmedTo = 0.05;
const leastDeathShare = 0.5;
const leastGoneShare = 0.8;
const leastLiving = 10;
const mostDeadLivingShare = 0.1;
// Below it a look is little better than a coin: at 1 it says nothing.
const leastAccuracy = 1.2;

/**
 * Returns what the answers of a look say. `isDnsOnly`: neither `http` nor `verifier` is configured, so that each name was asked
 * by DNS alone, which shows death only.
 */
export function judgeLook(answers: readonly CountedAnswer[], isDnsOnly: boolean): Opinion {
  const counted = answers.filter(({ isAsked }) => isAsked || isDnsOnly);
  const of = (role: LookRole): readonly CountedAnswer[] => counted.filter((one) => one.role === role);
  const [sample, living, dead] = [of("sample"), of("alive"), of("dead")];
  const countControls = (answers: readonly CountedAnswer[]): ControlCounts => ({
    ...countLife(answers),
    ...(isDnsOnly ? { gone: countAbsent(answers) } : {}),
  });
  const controls = { alive: countControls(living), dead: countControls(dead) };
  const { asked, alive } = countLife(sample);
  const gone = sample.filter(({ answer }) => showsDeath(answer)).length;
  const verdict = (): OpinionVerdict => {
    if (asked < leastAsked) return "undecided";
    if (isDnsOnly) {
      return countAbsent(sample) >= leastGoneShare * asked && isRightOfLiving(living, (answer) => answer === "gone")
        ? "confirmed"
        : "undecided";
    }
    const accuracy = accuracyOf(controls.alive, controls.dead);
    if (accuracy.sensitivity + accuracy.specificity < leastAccuracy) return "undecided";
    const probability = posteriorOfMostAlive(alive, asked, accuracy);
    if (probability >= refutedFrom) return "refuted";
    const isConfirmed =
      probability <= confirmedTo && gone >= leastDeathShare * asked && isRightOfLiving(living, showsDeath);
    return isConfirmed ? "confirmed" : "undecided";
  };
  return { asked, alive, gone, verdict: verdict(), controls };
}

function countLife(answers: readonly CountedAnswer[]): { readonly asked: number; readonly alive: number } {
  return { asked: answers.length, alive: answers.filter(({ answer }) => showsLife(answer)).length };
}

function countAbsent(answers: readonly CountedAnswer[]): number {
  return answers.filter(({ answer }) => answer === "gone").length;
}

/** A look that takes what lives for dead confirms nothing; sentinels are too easy to show that. */
function isRightOfLiving(living: readonly CountedAnswer[], isDead: (answer: LookAnswer) => boolean): boolean {
  const known = living.filter(({ isSentinel }) => !isSentinel);
  const wrong = known.filter(({ answer }) => isDead(answer)).length;
  return known.length >= leastLiving && wrong <= mostDeadLivingShare * known.length;
}
