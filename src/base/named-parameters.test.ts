import { describe, expect, it } from "vitest";

import { splitParameters, typedParameters } from "./named-parameters.ts";

describe("splitParameters", () => {
  it.each([
    { rule: "parameters, each time", text: "a = :x and b = :y or :x", names: ["x", "y", "x"] },
    { rule: "one after a bracket that opens", text: "any(:slugs)", names: ["slugs"] },
    { rule: "no cast", text: "a::text = :x::bigint", names: ["x"] },
    { rule: "none in a string", text: "':x' || 'it''s :x' || E'\\':x' || :y", names: ["y"] },
    { rule: "none in a quoted name", text: 'select ":x" as "a"":x", :y', names: ["y"] },
    { rule: "none in a comment", text: "-- :x\n/* :x\n */ :y", names: ["y"] },
    { rule: "none in a dollar quote", text: "$$ :x $$ || $tag$ $$ :x $tag$ || :y", names: ["y"] },
    { rule: "no slice of an array", text: "a[1:n] || a[lo:hi] || :y", names: ["y"] },
  ])("finds $rule", ({ text, names }) => {
    const found = splitParameters(text);

    expect(found.names).toEqual(names);
    const whole = found.texts
      .map((part, index) => part + (index < names.length ? `:${names[index] ?? ""}` : ""))
      .join("");
    expect(whole).toBe(text);
  });
});

describe("typedParameters", () => {
  it("finds names with their types, never in a string, a name or a comment", () => {
    const text =
      "select {a:Array(String)}, { b : DateTime64(3, 'UTC') }, '{c:Int8}', `{d:Int8}` -- {e:Int8}\n/* {f:Int8} */";

    expect(typedParameters(text)).toEqual([
      { name: "a", type: "Array(String)" },
      { name: "b", type: "DateTime64(3, 'UTC')" },
    ]);
  });
});
