import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseExposition } from "../../test/support/exposition-parser.ts";
import { formatBound, formatEnd, formatFamily, formatLabels, formatValue, negotiateFormat } from "./exposition.ts";

const prometheus3 =
  "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5," +
  "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

describe("negotiateFormat", () => {
  it.each([
    { name: "no header is text", accept: undefined, format: "text" },
    { name: "an empty one is text", accept: "", format: "text" },
    { name: "anything is text", accept: "*/*", format: "text" },
    { name: "a browser gets text", accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", format: "text" },
    { name: "Prometheus 3 gets OpenMetrics", accept: prometheus3, format: "openmetrics" },
    {
      name: "Prometheus 2 gets OpenMetrics",
      accept:
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
      format: "openmetrics",
    },
    { name: "without a version too", accept: "application/openmetrics-text", format: "openmetrics" },
    {
      name: "with a quoted version too",
      accept: 'application/openmetrics-text; version="1.0.0"',
      format: "openmetrics",
    },
    { name: "in any case", accept: "Application/OpenMetrics-Text;Version=1.0.0", format: "openmetrics" },
    {
      name: "a version that we do not have is passed over",
      accept: "application/openmetrics-text;version=2.0.0",
      format: "text",
    },
    { name: "the higher q-value wins", accept: "application/openmetrics-text;q=0.3, text/plain;q=0.7", format: "text" },
    {
      name: "whatever the order",
      accept: "text/plain;q=0.3, application/openmetrics-text;q=0.7",
      format: "openmetrics",
    },
    { name: "of equal ones the first", accept: "text/plain, application/openmetrics-text", format: "text" },
    { name: "q=0 is a no", accept: "application/openmetrics-text;q=0, image/png", format: "text" },
    { name: "a q that is no number is a no", accept: "application/openmetrics-text;q=high", format: "text" },
    { name: "nothing that we have is text", accept: "image/png", format: "text" },
  ])("$name", ({ accept, format }) => {
    expect(negotiateFormat(accept)).toBe(format);
  });
});

describe("the formats", () => {
  const labels = fc.dictionary(fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,10}$/), fc.string({ unit: "binary" }));
  const value = fc.double({ noDefaultInfinity: false });

  it.each(["text", "openmetrics"] as const)("%s reads back as what was written", (format) => {
    fc.assert(
      fc.property(labels, value, fc.string({ unit: "grapheme" }), (labels, value, help) => {
        const text =
          formatFamily(
            { name: "a_b", type: "gauge", help: `h${help}` },
            `a_b${formatLabels(labels)} ${formatValue(value)}\n`,
            format,
          ) + formatEnd(format);

        const family = parseExposition(text, format).get("a_b");

        expect(family?.help).toBe(`h${help}`);
        expect({ ...family?.samples[0]?.labels }).toEqual({ ...labels });
        expect(family?.samples[0]?.value).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  it("write a lone surrogate, which UTF-8 cannot carry, as the replacement character", () => {
    expect(formatLabels({ a: "x\ud800" })).toBe('{a="x\ufffd"}');
  });

  it("write a family without samples as nothing", () => {
    expect(formatFamily({ name: "a", type: "gauge", help: "h" }, "", "text")).toBe("");
  });

  it.each([
    { bound: 1, text: "1", openmetrics: "1.0" },
    { bound: 0.25, text: "0.25", openmetrics: "0.25" },
    { bound: 120, text: "120", openmetrics: "120.0" },
    { bound: Number.POSITIVE_INFINITY, text: "+Inf", openmetrics: "+Inf" },
  ])("write the bound $bound as $text and $openmetrics", ({ bound, text, openmetrics }) => {
    expect([formatBound(bound, "text"), formatBound(bound, "openmetrics")]).toEqual([text, openmetrics]);
  });
});
