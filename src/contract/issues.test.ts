import { describe, expect, it } from "vitest";
import { z } from "zod";

import { issueMessages, readWith } from "./issues.ts";

const schema = z.strictObject({
  text: z.string().min(1).max(5).optional(),
  long: z.string().min(3).optional(),
  whole: z.int().gt(0).max(9).optional(),
  share: z.number().min(0).lt(1).optional(),
  flag: z.boolean().optional(),
  list: z.array(z.string()).min(1).max(2).optional(),
  pair: z.enum(["left", "right"]).optional(),
  many: z.enum(["debug", "info", "warn"]).optional(),
  hundred: z.enum(Array.from({ length: 100 }, (_, index) => `value-${index}`)).optional(),
  either: z.union([z.literal(false), z.strictObject({ size: z.number() })]).optional(),
  kind: z
    .discriminatedUnion("type", [z.object({ type: z.literal("a") }), z.object({ type: z.literal("b") })])
    .optional(),
  at: z.iso.datetime({ offset: true }).optional(),
  bare: z
    .string()
    .refine(() => false)
    .optional(),
  own: z.string({ error: "must be a duration" }).optional(),
});
const needed = z.object({ text: z.string(), pair: z.enum(["left", "right"]), kind: schema.shape.kind.unwrap() });

describe("readWith", () => {
  it.each([
    ["a wrong type", { text: [] }, "text: must be a string, not a list"],
    ["null", { text: null }, "text: must be a string, not null"],
    ["a number where text is wanted", { text: 5 }, "text: must be a string, not a number; put it in quotes"],
    ["a number in quotes", { whole: "5" }, "whole: must be a number, not a string; write it without quotes"],
    ["text that is no number", { whole: "five" }, "whole: must be a number, not a string"],
    ["a boolean in quotes", { flag: "true" }, "flag: must be true or false, not a string; write it without quotes"],
    ["text that is no boolean", { flag: "5" }, "flag: must be true or false, not a string"],
    ["a fraction", { whole: 1.5 }, "whole: must be a whole number"],
    ["an infinite number", { share: Infinity }, "share: must be a finite number"],
    ["a number that is not above its bound", { whole: 0 }, "whole: must be greater than 0"],
    ["a number that is not below its bound", { share: 1 }, "share: must be less than 1"],
    ["a number that is too small", { share: -1 }, "share: must be at least 0"],
    ["a number that is too large", { whole: 10 }, "whole: must be at most 9"],
    ["empty text", { text: "" }, "text: must not be empty"],
    ["text that is too short", { long: "ab" }, "long: must be at least 3 characters long"],
    ["text that is too long", { text: "abcdef" }, "text: must be at most 5 characters long"],
    ["an empty list", { list: [] }, "list: must have at least 1 item"],
    ["a list that is too long", { list: ["a", "b", "c"] }, "list: must have at most 2 items"],
    ["an item of a list", { list: [7] }, "list.0: must be a string, not a number; put it in quotes"],
    ["none of two choices", { pair: 7 }, "pair: must be left or right"],
    ["none of the choices", { many: "wran" }, 'many: must be one of debug, info, warn; did you mean "warn"?'],
    [
      "a long list of choices",
      { hundred: "x" },
      "hundred: must be one of the 100 values that openapi.json and `flatline reports list --help` list",
    ],
    ["no type of several", { either: "x" }, "either: must be false or an object, not a string"],
    [
      "false in quotes",
      { either: "false" },
      "either: must be false or an object, not a string; write it without quotes",
    ],
    [
      "what is wrong within one of several types",
      { either: { size: "x" } },
      "either.size: must be a number, not a string",
    ],
    ["an unknown kind", { kind: { type: "other" } }, "kind.type: must be a or b"],
    ["a time that is none", { at: "now" }, "at: must be a time in ISO 8601 with an offset or Z"],
    ["a rule without words", { bare: "x" }, "bare: is not valid"],
    ["a schema with words of its own", { own: 5 }, "own: must be a duration"],
    ["an unknown key", { colour: 1 }, "colour: unknown key"],
    ["what is no object", [], "the body must be an object, not a list"],
  ])("words %s", (_what, value, message) => {
    const read = readWith(schema, value);

    expect(read.kind === "data" ? [] : issueMessages(read.problems)).toEqual([message]);
  });

  it("words what is missing, with its choices", () => {
    const read = readWith(needed, { kind: {} });

    expect(read.kind === "data" ? [] : issueMessages(read.problems)).toEqual([
      "text: is required",
      "pair: is required: left or right",
      "kind.type: is required: a or b",
    ]);
  });

  it("calls fields as its reader does", () => {
    const read = readWith(schema, { hundred: "value-1O" });

    expect(read.kind === "data" ? [] : issueMessages(read.problems, (field) => `--${field}`)).toEqual([
      "--hundred: must be one of the 100 values that openapi.json and `flatline reports list --help` list; " +
        'did you mean "value-1"?',
    ]);
  });

  it("says one thing of each field", () => {
    const read = readWith(z.object({ size: z.number().gt(0).lt(-1) }), { size: 0 });

    expect(read.kind === "data" ? [] : issueMessages(read.problems)).toEqual(["size: must be greater than 0"]);
  });
});
