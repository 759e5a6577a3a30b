import { formatCount } from "../../base/numbers.ts";

/**
 * Returns what a fleet verdict says: by chance, that there is one cause, of all that spike now; by ratio, that the checker is to be
 * suspected. How many began together is of the instant at which the verdict began, and stays.
 */
export function verdictWords(verdict: {
  readonly by: "chance" | "ratio";
  readonly together: number;
  readonly spiking: number;
  readonly organizations: number;
}): string {
  const { by, together, spiking, organizations } = verdict;
  if (by === "chance" && spiking <= together) return `${formatCount(together)} organizations began together: one cause`;
  if (by === "chance")
    return `${formatCount(spiking)} organizations spike from one cause: the first ${formatCount(together)} began together`;
  return `${formatCount(spiking)} of ${formatCount(organizations)} organizations spike at once: suspect the liveness checker`;
}
