import { createHash } from "node:crypto";

/** The dead assets of one organization of an incident. */
export interface DrawnFrom<T> {
  /** Deaths more than expected; not above 0: none. */
  readonly excess: number;
  readonly assets: readonly T[];
}

/** Returns the numbers in [0, 1) that belong to a seed, so that each replica draws the same. */
export function seededRandom(seed: string): () => number {
  let count = 0;
  // 32 bits of a hash are more than a draw among millions needs, and no generator of our own has to be trusted.
  return () => createHash("sha256").update(`${seed}/${count++}`).digest().readUInt32BE() / 2 ** 32;
}

/** Yields all assets in random order: first the organization, as likely as its excess is large, then any of its assets. */
export function* drawAssets<T>(organizations: readonly DrawnFrom<T>[], random: () => number): Generator<T, void> {
  // One without excess counts as one death: it has a dead asset, too.
  const left = organizations.map(({ excess, assets }) => ({ weight: Math.max(1, excess), assets: [...assets] }));
  for (;;) {
    const open = left.filter(({ assets }) => assets.length > 0);
    let at = random() * open.reduce((sum, { weight }) => sum + weight, 0);
    const chosen = open.find(({ weight }) => (at -= weight) < 0) ?? open.at(-1);
    if (chosen === undefined) return;
    const { assets } = chosen;
    const index = Math.floor(random() * assets.length);
    const [drawn, last] = [assets[index], assets.pop()];
    if (index < assets.length && last !== undefined) assets[index] = last;
    if (drawn !== undefined) yield drawn;
  }
}
