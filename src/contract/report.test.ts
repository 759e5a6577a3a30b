import { expect, it } from "vitest";

import { evaluateSpike } from "../spike/spike.ts";
import { assetTypeExcessOf } from "./report.ts";

it("reads the excess of each asset type from the findings of a spike", () => {
  const result = evaluateSpike({
    slug: "acme",
    nowMs: 0,
    currentCount: 100,
    baselineCount: 7,
    assetTypes: [
      { assetType: "URL", currentCount: 30, baselineCount: 0 },
      { assetType: "IP", currentCount: 70, baselineCount: 7 },
    ],
  });

  expect(assetTypeExcessOf(result)).toEqual([
    { assetType: "IP", excess: 69 },
    { assetType: "URL", excess: 30 },
  ]);
});
