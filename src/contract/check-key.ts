import { memoized } from "../base/memo.ts";
import type { CheckName } from "./report.ts";

// Each run is looked up in a dozen maps. V8 caches the hash of a string, so the same string is reused. Beyond this number
// the cache starts again.
const keptKeys = 262_144;
const keptChecks = 1_024;
const keysOf = memoized(keptChecks, (check: CheckName) => memoized(keptKeys, (slug: string) => `${check} ${slug}`));

/** Returns the key of a check of one organization in maps, always the same string; no check name contains a space. */
export function checkKey({ check, slug }: { readonly check: CheckName; readonly slug: string }): string {
  return keysOf(check)(slug);
}
