import type { CheckName } from "./report.ts";

/** Returns a key for maps; no check name contains a space. */
export function checkKey({ check, slug }: { readonly check: CheckName; readonly slug: string }): string {
  return `${check} ${slug}`;
}
