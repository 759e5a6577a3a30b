import { expect, it } from "vitest";

import { evaluateSpike, type SpikeInput } from "../spike/evaluate.ts";
import { spikeResultText } from "./spike-result-text.ts";

const nowMs = Date.UTC(2026, 10, 20, 12);
const assetTypes = [{ assetType: "URL", currentCount: 90, baselineCount: 7 }];
const ok = { slug: "acme", nowMs, currentCount: 3, baselineCount: 70 };

const inputs: readonly { readonly what: string; readonly input: SpikeInput }[] = [
  { what: "an ok one", input: ok },
  { what: "nothing expected", input: { ...ok, baselineCount: 0 } },
  { what: "a spike with findings", input: { ...ok, currentCount: 90, baselineCount: 7, assetTypes } },
  { what: "a fraction expected", input: { ...ok, baselineCount: 1, thresholds: { warnMultiplier: 1e-7 } } },
  { what: "a multiplier beyond all", input: { ...ok, thresholds: { failMultiplier: 1e308 } } },
  { what: "a median with its days", input: { ...ok, baseline: "median", dayCounts: [1, 2, 3, 4, 5, 6, 0] } },
  { what: "a slug that needs escapes", input: { ...ok, slug: '"\\\n\u2028\ud800é', appUrl: "https://a/{slug}" } },
];

it.each(inputs)("writes what JSON.stringify writes: $what", ({ input }) => {
  const result = evaluateSpike(input);

  expect(spikeResultText(result)).toBe(JSON.stringify(result));
});
