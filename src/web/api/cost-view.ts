import type { CostAnswer } from "../../contract/v1/cost.ts";
import type { AlertAssetsPort } from "../ports/dead-assets.ts";
import type { AlertCost, AlertState } from "../../store/alerts/alerts.ts";

/** Returns the cost of all alerts judged `checker` among these; null: none is, or none has assets. */
export async function costOf(
  assets: Pick<AlertAssetsPort, "costOf">,
  alerts: readonly AlertState[],
): Promise<CostAnswer | null> {
  const costs: AlertCost[] = [];
  for (const { id, judgement } of alerts) {
    const cost = judgement?.verdict === "checker" ? await assets.costOf(id) : null;
    if (cost !== null) costs.push(cost);
  }
  if (costs.length === 0) return null;
  const sum = (key: "deaths" | "knownCount" | "revived" | "stillDead" | "closedSeconds"): number =>
    costs.reduce((total, cost) => total + cost[key], 0);
  return {
    deaths: sum("deaths"),
    knownCount: sum("knownCount"),
    revived: sum("revived"),
    stillDead: sum("stillDead"),
    medianClosedSeconds: medianClosed(costs),
    closedSeconds: sum("closedSeconds"),
  };
}

/** Over all that were revived: each quantile of an alert stands for as many of its own. */
function medianClosed(costs: readonly AlertCost[]): number | null {
  const closed = costs
    .flatMap(({ revived, closedQuantiles }) =>
      closedQuantiles.map((seconds) => ({ seconds, weight: revived / closedQuantiles.length })),
    )
    .toSorted((left, right) => left.seconds - right.seconds);
  const half = costs.reduce((total, { revived }) => total + revived, 0) / 2;
  let below = 0;
  for (const [index, { seconds, weight }] of closed.entries()) {
    below += weight;
    // An even number of values has the mean of the middle two.
    if (below === half) return (seconds + (closed[index + 1]?.seconds ?? seconds)) / 2;
    if (below > half) return seconds;
  }
  return closed.at(-1)?.seconds ?? null;
}
