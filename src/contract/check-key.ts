import { memoized } from "../base/memo.ts";
import type { CheckName } from "./report.ts";

// Each run is looked up in a dozen maps: a text that is made once is hashed once. Beyond so many they are made anew.
const keptKeys = 262_144;
const keysOf = memoized(16, (check: CheckName) => memoized(keptKeys, (slug: string) => `${check} ${slug}`));

/** A (check, slug) as one key of a map, always the same text; no name of a check has a space. */
export function checkKey(check: CheckName, slug: string): string {
  return keysOf(check)(slug);
}
