import type { CostAnswer } from "../../contract/v1/cost.ts";
import type { AlertAssetsPort, AlertCost } from "../ports/dead-assets.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";

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
  const sum = (key: "deaths" | "knownCount" | "revived" | "stillDead"): number =>
    costs.reduce((total, cost) => total + cost[key], 0);
  const closed = costs.flatMap(({ closedSeconds }) => closedSeconds).toSorted((left, right) => left - right);
  return {
    deaths: sum("deaths"),
    knownCount: sum("knownCount"),
    revived: sum("revived"),
    stillDead: sum("stillDead"),
    medianClosedSeconds: medianOf(closed),
    closedSeconds: closed.reduce((total, seconds) => total + seconds, 0),
  };
}

function medianOf(sorted: readonly number[]): number | null {
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
