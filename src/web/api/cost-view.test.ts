import { expect, it } from "vitest";

import { firingAlert } from "../../../test/support/firing-alert.ts";
import type { AlertCost } from "../../store/alerts/alerts.ts";
import { costOf } from "./cost-view.ts";

const judgement = { verdict: "checker", comment: null, by: "kim", note: null, atMs: 1 } as const;

async function medianOf(...costs: Pick<AlertCost, "revived" | "closedQuantiles">[]): Promise<number | null> {
  const alerts = costs.map((_, index) => firingAlert(String(index), 1, { judgement }));
  const rest = { deaths: 9, knownCount: 9, stillDead: 0, closedSeconds: 1 };
  const assets = { costOf: (id: string) => Promise.resolve({ ...rest, ...(costs[Number(id)] ?? never()) }) };
  return (await costOf(assets, alerts))?.medianClosedSeconds ?? null;
}

function never(): never {
  throw new Error("no such alert");
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
])("the median time that an asset was closed is %s", async (_rule, costs, median) => {
  expect(await medianOf(...costs)).toBe(median);
});
