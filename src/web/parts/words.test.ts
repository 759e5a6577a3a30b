import { describe, expect, it } from "vitest";

import { readWords, selectByWords, type WordSubject } from "./words.ts";

const subject = (slug: string, changes: Partial<WordSubject> = {}): WordSubject => ({
  slug,
  labels: { team: "trust" },
  names: ["fail", "firing"],
  ...changes,
});
const subjects = [
  subject("acme"),
  subject("acme-eu", { names: ["warn", "ended"] }),
  subject("northwind-pay", { labels: { team: "fraud" } }),
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
    ["acme fraud", []],
  ])("%j finds %j", (text, slugs) => {
    expect(find(text)).toEqual(slugs);
  });

  it.each([
    ["tem=trust", "«tem» is no label. Did you mean team?"],
    ["x=1", "«x» is no label."],
    ["who=dana", "«who» is no label."],
  ])("says of %s: %s", (text, problem) => {
    expect(readWords(text, vocabulary).problems).toEqual([problem]);
  });
});
