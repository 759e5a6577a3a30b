// Shorter common prefixes are coincidence.
const minBeginning = 4;

/** Returns the known name that is nearest to `name`; null: none is near. */
export function nearestName(name: string, known: Iterable<string>): string | null {
  const limit = Math.max(1, Math.floor(name.length / 3));
  let nearest: string | null = null;
  let nearestDistance = limit + 1;
  for (const candidate of known) {
    // fail_multiplier and FailMultiplier match failMultiplier at any edit distance.
    const [shorter = "", longer = ""] = [fold(name), fold(candidate)].toSorted(
      (left, right) => left.length - right.length,
    );
    const isBeginning = shorter.length >= minBeginning && longer.startsWith(shorter);
    const most = shorter === longer ? 0 : isBeginning ? limit : Infinity;
    const distance = Math.min(most, editDistance(name, candidate, nearestDistance));
    if (distance >= nearestDistance) continue;
    nearest = candidate;
    nearestDistance = distance;
  }
  return nearest;
}

/** Returns `; did you mean "x"?` or "". */
export function suggest(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === null ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** Counts insertions, deletions, substitutions and swaps between two names, up to `limit`. */
function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(left).entries()) {
    const current = [row + 1];
    for (const [column, other] of Array.from(right).entries()) {
      const changed = (last[column] ?? limit) + (letter === other ? 0 : 1);
      const isSwap = letter === right[column - 1] && other === left[row - 1];
      const swapped = (isSwap ? beforeLast[column - 1] : undefined) ?? limit;
      current.push(Math.min(changed, swapped + 1, (last[column + 1] ?? limit) + 1, (current[column] ?? limit) + 1));
    }
    [beforeLast, last] = [last, current];
  }
  return Math.min(last.at(-1) ?? limit, limit);
}
