import { compareLists } from "../../contract/listed-organization.ts";
import type { Running } from "./running.ts";

/** How a source of organizations stands (CONTRACT 14). */
export interface DiscoverySource {
  readonly name: string;
  /** Whether its last refresh gave a list. */
  readonly up: boolean;
  /** In the list that holds. */
  readonly organizations: number;
  /** null: it was not asked yet. */
  readonly refreshedAtMs: number | null;
  readonly problem: string | null;
  /** What the list that is held back would change; null: none is. */
  readonly held: { readonly reason: "empty" | "shrunk"; readonly added: number; readonly removed: number } | null;
}

/** Reads the sources of the configuration, in its order. */
export async function readDiscovery({
  store,
  config,
}: Pick<Running, "store" | "config">): Promise<readonly DiscoverySource[]> {
  const sources: DiscoverySource[] = [];
  for (const { name } of config().discover) {
    const state = await store.discovery.state(name);
    const applied = (await store.discovery.list(name, "applied")) ?? [];
    const held = await store.discovery.list(name, "held");
    const change = held === null ? null : compareLists(applied, held);
    sources.push({
      name,
      up: state !== null && state.problem === null,
      organizations: applied.length,
      refreshedAtMs: state === null ? null : state.refreshedAtMs,
      problem: state === null ? null : state.problem,
      held:
        change === null
          ? null
          : { reason: state?.held?.reason ?? "shrunk", added: change.added.length, removed: change.removed.length },
    });
  }
  return sources;
}

/** What is wrong with a source, as a sentence; null: nothing is. */
export function discoveryProblem({
  name,
  problem,
  held,
}: Pick<DiscoverySource, "name" | "problem" | "held">): string | null {
  if (problem !== null) return `${name} gives no list: ${problem}. The last good one holds.`;
  if (held === null) return null;
  if (held.reason === "empty") return `${name} gives an empty list, which is held back.`;
  return `${name} gives a list that is held back: it would remove ${held.removed} organizations and add ${held.added}.`;
}
