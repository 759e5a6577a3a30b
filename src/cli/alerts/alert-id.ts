import { FlatlineError } from "../../base/errors.ts";
import { beginOfAlertId } from "../../contract/alert-id.ts";
import type { AlertDetailAnswer } from "../../contract/v1/alerts.ts";

/** The fields that distinguish alerts whose ids begin alike; live and ended ones. */
export type IdentifiedAlert = Pick<AlertDetailAnswer, "id" | "slug" | "check" | "severity" | "state" | "startsAt">;

/**
 * Returns the id that a person named by its first digits; what is no begin of an id is returned as it is. @throws
 * FlatlineError usage where several begin so, not_found where none does
 */
export async function findAlertId(
  given: string,
  search: (prefix: string) => Promise<readonly IdentifiedAlert[]>,
): Promise<string> {
  const prefix = given.toLowerCase();
  if (!beginOfAlertId.test(prefix)) return given;
  const found = await search(prefix);
  const [only] = found;
  if (only === undefined) throw new FlatlineError("not_found", `no alert has an id that begins with ${given}`);
  if (found.length === 1) return only.id;
  throw new FlatlineError("usage", `${found.length} alerts have an id that begins with ${given}: give more of it`, {
    issues: found.map(
      ({ id, slug, check, severity, state, startsAt }) =>
        `${id}  ${slug}, ${check}: ${severity}, ${state}, detected ${startsAt}`,
    ),
  });
}
