import type { CheckName } from "./report.ts";

// Each run is looked up in a dozen maps: a text that is made once is hashed once. Beyond so many they are made anew.
const keptKeys = 262_144;
// A memo of a pure function.
const keys = new Map<CheckName, Map<string, string>>();

/** A (check, slug) as one key of a map, always the same text; no name of a check has a space. */
export function checkKey(check: CheckName, slug: string): string {
  let known = keys.get(check);
  if (known === undefined) keys.set(check, (known = new Map()));
  const key = known.get(slug);
  if (key !== undefined) return key;
  const made = `${check} ${slug}`;
  if (known.size >= keptKeys) known.clear();
  known.set(slug, made);
  return made;
}
