/** Returns the known name that is nearest to `name`; null if none is near. */
export function nearestName(name: string, known: Iterable<string>): string | null {
  const limit = Math.max(1, Math.floor(name.length / 3));
  let nearest: string | null = null;
  let nearestDistance = limit + 1;
  for (const candidate of known) {
    const distance = distanceBetween(name, candidate, limit, nearestDistance);
    if (distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Returns `; did you mean "x"?` or "", to be appended to a message. */
export function suggest(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === null ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
}

// Shorter common prefixes are coincidence.
const minBeginning = 4;

function distanceBetween(name: string, candidate: string, limit: number, nearestDistance: number): number {
  // fail_multiplier and FailMultiplier match failMultiplier, whatever their edit distance.
  if (fold(candidate) === fold(name)) return 0;
  const [shorter, longer] = name.length < candidate.length ? [name, candidate] : [candidate, name];
  const isBeginning = shorter.length >= minBeginning && fold(longer).startsWith(fold(shorter));
  const distance = editDistance(name, candidate, nearestDistance);
  return isBeginning ? Math.min(distance, limit) : distance;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** Returns the number of insertions, deletions, substitutions and swaps between two names, at most `limit`. */
function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      let best = Math.min(
        (last[column] ?? limit) + 1,
        (current[column - 1] ?? limit) + 1,
        (last[column - 1] ?? limit) + (isSame ? 0 : 1),
      );
      if (left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] ?? limit) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return Math.min(last[right.length] ?? limit, limit);
}
