import type { DiscoverySource } from "../../contract/listed-organization.ts";

/** Returns the problem of a discovery source as a sentence; null: none. */
export function discoveryProblem({ name, problem, held }: Omit<DiscoverySource, "refreshedAtMs">): string | null {
  if (problem !== null) return `${name} gives no list: ${problem}. The last good one holds.`;
  if (held === null) return null;
  if (held.reason === "empty") return `${name} gives an empty list, which is held back.`;
  return `${name} gives a list that is held back: it would remove ${held.removed} organizations and add ${held.added}.`;
}
