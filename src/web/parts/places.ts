import { nearestName } from "../../base/suggestions.ts";
import type { Place } from "../../contract/v1/places.ts";

/** A place, and which letters of its name were asked for. */
export interface FoundPlace {
  readonly place: Place;
  readonly letters: readonly number[];
}

/** Returns the places whose name has the letters in this order, the closest first; those found by a label only come last. */
export function findPlaces(places: readonly Place[], asked: string, most: number): FoundPlace[] {
  const text = asked.trim().toLowerCase();
  if (text === "") return [];
  const found: (FoundPlace & { readonly score: number })[] = [];
  for (const place of places) {
    const match = matchLetters(place.name, text);
    if (match !== null) found.push({ place, ...match });
    else if (place.words.some((word) => word.toLowerCase().includes(text)))
      found.push({ place, letters: [], score: Number.MAX_SAFE_INTEGER });
  }
  return found
    .sort((left, right) => left.score - right.score || (left.place.name < right.place.name ? -1 : 1))
    .slice(0, most)
    .map(({ place, letters }) => ({ place, letters }));
}

/**
 * Finds the letters of `text` (lower case) in a name, in order; null where it does not have them. The score is small where
 * they stand together, at the beginning or at the beginning of a word, and where the name has little else.
 */
export function matchLetters(
  name: string,
  text: string,
): { readonly letters: readonly number[]; readonly score: number } | null {
  const lower = Array.from(name.toLowerCase());
  const whole = lower.join("").indexOf(text);
  if (whole >= 0) {
    const isWordStart = whole === 0 || !/[a-z0-9]/.test(lower[whole - 1] ?? "");
    const letters = Array.from({ length: Array.from(text).length }, (_, index) => whole + index);
    return { letters, score: (isWordStart ? 0 : 1_000) + whole + (lower.length - letters.length) / 100 };
  }
  const letters: number[] = [];
  let at = -1;
  let gaps = 0;
  for (const letter of text) {
    const next = lower.indexOf(letter, at + 1);
    if (next === -1) return null;
    if (at >= 0) gaps += next - at - 1;
    letters.push(next);
    at = next;
  }
  return { letters, score: 10_000 + gaps * 10 + (letters[0] ?? 0) + lower.length / 100 };
}

const mostNearest = 2;

/** Returns what is called nearly so. */
export function nearestPlaces(places: readonly Place[], asked: string): string[] {
  const names = new Set(places.map(({ name }) => name));
  const found: string[] = [];
  for (let count = 0; count < mostNearest; count++) {
    const name = nearestName(asked, names);
    if (name === null) break;
    found.push(name);
    names.delete(name);
  }
  return found;
}
