import { expect, it } from "vitest";

import type { AlertCost } from "../../store/alerts/alerts.ts";
import { sumOf } from "./alert-assets.ts";

function medianOf(...costs: Pick<AlertCost, "revived" | "closedQuantiles">[]): number | null {
  const rest = { deaths: 9, knownCount: 9, stillDead: 0, closedSeconds: 1 };
  return sumOf(costs.map((one) => ({ ...rest, ...one }))).medianClosedSeconds;
}

it.each([
  ["of none", [{ revived: 0, closedQuantiles: [] }], null],
  ["of an odd number", [{ revived: 3, closedQuantiles: [1, 5, 9] }], 5],
  ["of an even number the mean of the middle two", [{ revived: 4, closedQuantiles: [1, 5, 9, 20] }], 7],
  [
    "over all alerts",
    [
      { revived: 2, closedQuantiles: [1, 9] },
      { revived: 1, closedQuantiles: [4] },
    ],
    4,
  ],
  [
    "with as many behind each quantile as it stands for",
    [
      { revived: 3, closedQuantiles: [1, 2, 3] },
      { revived: 300, closedQuantiles: [10, 20, 30] },
    ],
    20,
  ],
])("the median time that an asset was closed is %s", (_rule, costs, median) => {
  expect(medianOf(...costs)).toBe(median);
});
