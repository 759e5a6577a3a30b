import { describe, expect, it } from "vitest";

import { opinionWords, type LookAnswer, type LookRole } from "../contract/second-opinion.ts";
import { judgeLook, type CountedAnswer } from "./verdict.ts";

type Few = Partial<Record<LookAnswer, number>>;

function answered(role: LookRole, few: Few, more: Partial<CountedAnswer> = {}): CountedAnswer[] {
  return Object.entries(few).flatMap(([answer, count]) =>
    Array.from({ length: count }, () => ({
      role,
      answer: answer as LookAnswer,
      isSentinel: false,
      ...more,
    })),
  );
}

const goodControls = [
  ...answered("alive", { answers: 19, undecided: 1 }),
  ...answered("dead", { gone: 19, answers: 1 }),
];
const verdictOf = (sample: Few, controls: readonly CountedAnswer[] = goodControls): string =>
  judgeLook([...answered("sample", sample), ...controls]).verdict;

describe("the verdict on a verifier's answers", () => {
  it.each<[string, string, Few, (readonly CountedAnswer[])?]>([
    ["14 of 20 that answer refute the deaths", "refuted", { answers: 14, gone: 6 }],
    ["a challenge is life, as an answer is", "refuted", { answers: 4, challenge: 10, gone: 6 }],
    ["17 of 20 that are gone or parked confirm them", "confirmed", { gone: 10, parked: 7, undecided: 3 }],
    ["refusals alone confirm nothing", "undecided", { undecided: 20 }],
    ["a half that shows death is enough, when nothing shows life", "confirmed", { gone: 10, undecided: 10 }],
    ["less than a half is not", "undecided", { gone: 9, undecided: 11 }],
    ["a half that lives is a draw", "undecided", { answers: 10, gone: 10 }],
    ["nine are too few", "undecided", { answers: 9 }],
    ["ten are enough", "refuted", { answers: 10 }],
    ["without controls the assumed accuracy still refutes", "refuted", { answers: 16, gone: 4 }, []],
    ["without controls nothing is confirmed", "undecided", { gone: 20 }, []],
    [
      "sentinels do not stand for assets that the checker looks at",
      "undecided",
      { gone: 20 },
      [...answered("alive", { answers: 20 }, { isSentinel: true }), ...answered("dead", { gone: 20 })],
    ],
    [
      "living controls that look dead confirm nothing",
      "undecided",
      { gone: 20 },
      [...answered("alive", { answers: 17, parked: 3 }), ...answered("dead", { gone: 20 })],
    ],
    [
      "a tenth of the living may look dead",
      "confirmed",
      { gone: 20 },
      [...answered("alive", { answers: 18, gone: 2 }), ...answered("dead", { gone: 20 })],
    ],
    [
      "a look that cannot tell life from death says nothing",
      "undecided",
      { answers: 20 },
      [...answered("alive", { answers: 20 }), ...answered("dead", { answers: 17, gone: 3 })],
    ],
  ])("%s", (_, verdict, sample, controls) => {
    expect(verdictOf(sample, controls)).toBe(verdict);
  });

  it.each<[string, number, number, "controls" | undefined]>([
    ["two of five that are known to be alive", 2, 3, "controls"],
    ["nine of twenty", 9, 11, "controls"],
    ["half of them", 10, 10, undefined],
    ["one of four, which are too few to tell", 1, 3, undefined],
  ])("of a verifier that finds %s alive", (_, alive, others, failure) => {
    const living = [
      ...answered("alive", { answers: alive, gone: others - 1 }),
      ...answered("alive", { undecided: 1 }, { isSentinel: true }),
    ];
    const opinion = judgeLook([...answered("sample", { gone: 20 }), ...living]);

    expect(opinion.verdict).toBe("undecided");
    expect(opinion.failure).toBe(failure);
    if (failure !== undefined)
      expect(opinionWords(opinion)).toMatch(/^the verifier fails: .*; of \d+ known to be alive \d answer$/);
  });

  it("counts the sample and both kinds of controls", () => {
    expect(judgeLook([...answered("sample", { answers: 14, parked: 6 }), ...goodControls])).toStrictEqual({
      asked: 20,
      alive: 14,
      gone: 6,
      verdict: "refuted",
      controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
    });
  });
});
