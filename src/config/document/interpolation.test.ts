import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { interpolate, readCoreScalar, type FileText } from "./interpolation.ts";

const environment = { NAME: "value", EMPTY: "", DOLLAR: "a$${NAME}b", YAML: "x\nslug: injected" };
const grammar = "a reference is ${NAME}, ${NAME:-default} or ${file:PATH}; write $${ for a dollar before a brace";
const file = (path: string): FileText =>
  path === "/run/key" ? { text: "a${NAME}" } : { problem: `the file ${path} does not exist` };

describe("interpolate", () => {
  it.each([
    ["text without a dollar is itself", "plain", "plain"],
    ["a reference is its value", "${NAME}", "value"],
    ["references stand within text", "a-${NAME}-${NAME}-b", "a-value-value-b"],
    ["a default stands in for an unset variable", "${UNSET:-other}", "other"],
    ["a default stands in for an empty variable", "${EMPTY:-other}", "other"],
    ["a default may be empty", "${UNSET:-}", ""],
    ["an empty variable is empty", "a${EMPTY}b", "ab"],
    ["a default is not used when the variable is set", "${NAME:-other}", "value"],
    ["a default may hold a reference", "${UNSET:-a ${NAME} b}", "a value b"],
    ["a default may hold colons and dashes", "${UNSET:-http://a:1/-}", "http://a:1/-"],
    ["an unset variable in an unused default does not matter", "${NAME:-${UNSET}}", "value"],
    ["two dollars are one", "a$$b", "a$b"],
    ["an escaped reference is text", "$${NAME}", "${NAME}"],
    ["three dollars are a dollar and a reference", "$$${NAME}", "$value"],
    ["a lone dollar is a dollar", "pa$word$", "pa$word$"],
    ["a brace without dollar is text", "https://app/o/{slug}", "https://app/o/{slug}"],
    ["a value is not looked at again", "${DOLLAR}", "a$${NAME}b"],
    ["a file is its text, which is not looked at again", "x-${file:/run/key}", "x-a${NAME}"],
    ["a default may be a file", "${UNSET:-${file:/run/key}}", "a${NAME}"],
    ["a file in an unused default does not matter", "${NAME:-${file:/nowhere}}", "value"],
    ["a variable may be called file", "${file:-x}", "x"],
    ["an escaped file is text", "$${file:/run/key}", "${file:/run/key}"],
  ])("%s", (_rule, text, value) => {
    expect(interpolate(text, environment, file)).toMatchObject({ value, problems: [] });
  });

  it.each([
    ["an unset variable", "${UNSET}", "environment variable UNSET is not set, and has no default"],
    [
      "one that only an object has",
      "${constructor}",
      "environment variable constructor is not set, and has no default",
    ],
    [
      "an unset variable in a used default",
      "${UNSET:-${NONE}}",
      "environment variable NONE is not set, and has no default",
    ],
    ["a file that is not there", "${file:/nowhere}", "the file /nowhere does not exist"],
    ["a file without a name", "${file:}", grammar],
    ["an unclosed default", "${UNSET:-a", "a ${…} is not closed"],
    ["an unclosed reference", "${NAME", grammar],
    ["an empty name", "${}", grammar],
    ["a name that is none", "${1A}", grammar],
    ["another operator", "${NAME-x}", grammar],
  ])("refuses %s", (_rule, text, problem) => {
    expect(interpolate(text, environment, file).problems).toEqual([problem]);
  });

  it.each([
    ["${NAME}", true],
    ["${NAME:-5}", true],
    ["${UNSET:-a${NAME}b}", true],
    ["${NAME}${NAME}", false],
    [" ${NAME}", false],
    ["${NAME}s", false],
    ["${file:/run/key}", true],
    ["$$", false],
    ["text", false],
  ])("knows whether %j is one reference and nothing else", (text, isWholeReference) => {
    expect(interpolate(text, environment, file).isWholeReference).toBe(isWholeReference);
  });

  it("gives back any text whose dollars are doubled", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("$", "{", "}", "N", ":", "-") }), (text) => {
        expect(interpolate(text.replaceAll("$", "$$$$"), environment, file)).toMatchObject({
          value: text,
          problems: [],
        });
      }),
    );
  });
});

describe("readCoreScalar", () => {
  it.each([
    ["16", 16],
    ["-1", -1],
    ["0x10", 16],
    ["0o17", 15],
    ["1.5", 1.5],
    [".5", 0.5],
    ["1e3", 1000],
    ["true", true],
    ["FALSE", false],
    ["yes", null],
    ["", null],
    ["tRue", null],
    ["1_000", null],
    ["[1]", null],
    [".inf", null],
    ["1 # one", null],
  ])("reads %j", (text, value) => {
    expect(readCoreScalar(text)).toBe(value);
  });
});
