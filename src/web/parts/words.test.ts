import { describe, expect, it } from "vitest";

import { readWords, selectByWords, type WordSubject } from "./words.ts";

const subject = (slug: string, changes: Partial<WordSubject> = {}): WordSubject => ({
  slug,
  labels: { team: "trust" },
  names: ["fail", "firing"],
  undone: null,
  who: null,
  judged: null,
  lastedMs: null,
  ...changes,
});
const hourMs = 3_600_000;
const subjects = [
  subject("acme", { undone: 0.6, lastedMs: 5 * hourMs }),
  subject("acme-eu", { names: ["warn", "ended"], judged: "checker", who: "Dana Reyes" }),
  subject("northwind-pay", { labels: { team: "fraud" }, undone: 0.1, lastedMs: hourMs }),
];
const vocabulary = { names: ["fail", "warn", "firing", "ended"], labels: ["team", "region"] };
const find = (text: string): string[] =>
  selectByWords(subjects, readWords(text, vocabulary), (one) => one).map(({ slug }) => slug);

describe("a filter in words", () => {
  it.each([
    ["", ["acme", "acme-eu", "northwind-pay"]],
    ["acme", ["acme", "acme-eu"]],
    ['"acme"', ["acme"]],
    ["fail", ["acme", "northwind-pay"]],
    ["warn ended", ["acme-eu"]],
    ["fraud", ["northwind-pay"]],
    ["team=fraud", ["northwind-pay"]],
    ["team=TRUST fail", ["acme"]],
    ["undone>50%", ["acme"]],
    ["undone<50", ["northwind-pay"]],
    ["who=dana", ["acme-eu"]],
    ["judged=checker", ["acme-eu"]],
    ["not:judged", ["acme", "northwind-pay"]],
    ["longer:4h", ["acme"]],
    ["shorter:2h", ["northwind-pay"]],
    ["acme fraud", []],
  ])("%j finds %j", (text, slugs) => {
    expect(find(text)).toEqual(slugs);
  });

  it.each([
    ["tem=trust", "«tem» is no label. Did you mean team?"],
    ["x=1", "«x» is no label."],
  ])("says of %s: %s", (text, problem) => {
    expect(readWords(text, vocabulary).problems).toEqual([problem]);
  });
});
