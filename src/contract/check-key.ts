import type { CheckName } from "./report.ts";

/** Returns the key of a check of one organization in maps; no check name contains a space. */
export function checkKey({ check, slug }: { readonly check: CheckName; readonly slug: string }): string {
  return `${check} ${slug}`;
}
