import { describe, expect, it } from "vitest";

import { opinionWords, type LookAnswer, type LookRole } from "../contract/second-opinion.ts";
import { judgeLook, type CountedAnswer } from "./verdict.ts";

type Few = Partial<Record<LookAnswer, number>>;

function answered(role: LookRole, few: Few, more: Partial<CountedAnswer> = {}): CountedAnswer[] {
  return Object.entries(few).flatMap(([answer, count]) =>
    Array.from({ length: count }, () => ({
      role,
      answer: answer as LookAnswer,
      isAsked: true,
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
  judgeLook([...answered("sample", sample), ...controls], false).verdict;

describe("the verdict of a look over HTTP", () => {
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

  it("does not count names that were asked by DNS alone", () => {
    const byName = answered("sample", { gone: 20 }, { isAsked: false });
    const opinion = judgeLook([...answered("sample", { answers: 9 }), ...byName, ...goodControls], false);

    expect(opinion).toMatchObject({ asked: 9, alive: 9, gone: 0, verdict: "undecided" });
  });

  it("counts the sample and both kinds of controls", () => {
    expect(judgeLook([...answered("sample", { answers: 14, parked: 6 }), ...goodControls], false)).toStrictEqual({
      asked: 20,
      alive: 14,
      gone: 6,
      verdict: "refuted",
      controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
    });
  });
});

describe("the verdict of DNS alone", () => {
  const living = answered("alive", { undecided: 9, gone: 1 });

  it.each<[string, string, Few, readonly CountedAnswer[]]>([
    ["four in five names that do not exist confirm the deaths", "confirmed", { gone: 16, undecided: 4 }, living],
    ["less than that does not", "undecided", { gone: 15, undecided: 5 }, living],
    ["a sinkhole is no name that does not exist", "undecided", { gone: 15, parked: 5 }, living],
    ["nine names are too few", "undecided", { gone: 9 }, living],
    ["names that exist refute nothing", "undecided", { undecided: 20 }, living],
    [
      "two of ten living names that do not exist are too many",
      "undecided",
      { gone: 20 },
      answered("alive", { undecided: 8, gone: 2 }),
    ],
    ["fewer than ten living ones say too little", "undecided", { gone: 20 }, answered("alive", { undecided: 9 })],
  ])("%s", (_, verdict, sample, controls) => {
    const byName = [...answered("sample", sample), ...controls].map((one) => ({ ...one, isAsked: false }));

    expect(judgeLook(byName, true).verdict).toBe(verdict);
  });

  it("says of the controls which names do not exist, as none can answer", () => {
    const controls = [...living, ...answered("dead", { gone: 20 })];
    const byName = [...answered("sample", { gone: 12 }), ...controls].map((one) => ({ ...one, isAsked: false }));

    expect(opinionWords(judgeLook(byName, true))).toBe(
      "12 of 12 are gone; of 10 known to be alive 1 are gone, of 20 long dead 20 are gone",
    );
  });
});
