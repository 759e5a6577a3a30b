/** A source of chance that one number decides: the same seed gives the same numbers, on every machine. */
export interface Chance {
  /** 0 ≤ x < 1. */
  next(): number;
  /** An integer, both ends included. */
  between(least: number, most: number): number;
  isTrue(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  /** Another source that does not change what this one gives next: one part never shifts the chance of another. */
  of(name: string): Chance;
}

/** Returns the source of `seed`: mulberry32, whose state is one 32-bit integer. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    isTrue: (probability) => next() < probability,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    of: (name) => createChance(hashOf(`${seed} ${name}`)),
  };
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}
