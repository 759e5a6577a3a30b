import { formatCount } from "../../base/numbers.ts";

/** Returns what a fleet verdict says: by chance, that there is one cause; by ratio, that the checker is to be suspected. */
export function verdictWords(verdict: {
  readonly by: "chance" | "ratio";
  readonly together: number;
  readonly spiking: number;
  readonly organizations: number;
}): string {
  const { by, together, spiking, organizations } = verdict;
  if (by === "chance") return `${formatCount(together)} organizations began together: one cause`;
  return `${formatCount(spiking)} of ${formatCount(organizations)} organizations spike at once: suspect the liveness checker`;
}
