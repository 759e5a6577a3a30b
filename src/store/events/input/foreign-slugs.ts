import { FlatlineError } from "../../../base/errors.ts";
import { matchesText } from "../../../base/text-pattern.ts";
import { excerpt } from "../../../base/cut-text.ts";

/**
 * Refuses events of organizations that none of the patterns matches; null: all may be.
 * @throws FlatlineError forbidden
 */
export function refuseForeignSlugs(slugs: readonly string[], organizations: readonly string[] | null): void {
  const foreign = slugs.find((slug) => !(organizations?.some((pattern) => matchesText(pattern, slug)) ?? true));
  if (foreign === undefined) return;
  const message = `the token is not for the organization ${excerpt(foreign)}, of which there are events in the body: nothing was stored`;
  throw new FlatlineError("forbidden", message);
}
