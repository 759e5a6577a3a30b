import { expect, it } from "vitest";

import { parseExposition, seriesValue } from "../../test/support/exposition-parser.ts";
import { countedInstruments } from "./catalogue.ts";
import { formatEnd, type ExpositionFormat } from "./exposition.ts";
import { createKeptGauge, type KeptGauge } from "./kept-gauge.ts";

const check = "dead-asset-spike";
const instrument = countedInstruments.falseDeathRatio;

function valueOf(gauge: KeptGauge, slug: string, format: ExpositionFormat): number | null {
  const text = gauge
    .render(format)
    .map(({ bytes }) => bytes.toString())
    .join("");
  if (text === "") return null;
  return seriesValue(parseExposition(text + formatEnd(format), format), instrument.name, { check, slug });
}

it.each(["text", "openmetrics"] as const)("a kept gauge shows its values in %s until they are removed", (format) => {
  const gauge = createKeptGauge(instrument);
  const odd = 'a "quoted"\\name';
  gauge.set(check, "acme", 0.25);
  gauge.set(check, odd, 1);
  expect([valueOf(gauge, "acme", format), valueOf(gauge, odd, format)]).toEqual([0.25, 1]);

  gauge.set(check, "acme", 0.5);
  gauge.set(check, odd, null);
  expect([valueOf(gauge, "acme", format), valueOf(gauge, odd, format)]).toEqual([0.5, null]);

  gauge.set(check, "acme", null);
  expect(gauge.render(format)).toEqual([]);
});

it("a kept gauge gives the same bytes in either format until a value changes, so that they are compressed once", () => {
  const gauge = createKeptGauge(instrument);
  gauge.set(check, "acme", 0.25);
  const bytes = gauge.render("text").at(-1)?.bytes;

  expect(gauge.render("openmetrics").at(-1)).toEqual({ bytes, isKept: true });
  expect(gauge.render("openmetrics").at(-1)?.bytes).toBe(bytes);
  gauge.set(check, "acme", 0.5);
  expect(gauge.render("text").at(-1)?.bytes).not.toBe(bytes);
});
