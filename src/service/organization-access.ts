import { FlatlineError } from "../base/errors.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { KeyIdentity } from "./api-keys.ts";

export interface OrganizationAccessOptions {
  readonly store: Pick<StoreParts, "events" | "platform">;
  readonly identity: KeyIdentity;
  /** A configured organization exists before any of its data is stored. */
  readonly isConfigured: (slug: string) => boolean;
}

/**
 * Returns whether the organization exists and the key has access: a client cannot tell which is missing (CONTRACT 9).
 */
export async function reaches(slug: string, options: OrganizationAccessOptions): Promise<boolean> {
  const { identity, store, isConfigured } = options;
  if (!identity.organizations.includes(slug)) return false;
  if (isConfigured(slug) || (await store.platform.organizations.idOf(slug)) !== null) return true;
  return (await store.events.firstEventAtMs(slug)) !== null;
}

/**
 * Returns `slug`, or the key's only organization.
 * @throws api_bad_request if there are several, and `refusal` without access
 */
export async function resolveOrganization(
  slug: string | undefined,
  refusal: "api_unauthorized" | "api_forbidden",
  options: OrganizationAccessOptions,
): Promise<string> {
  const { organizations } = options.identity;
  if (slug === undefined && organizations.length > 1) {
    const issue = "slug: required, because this key is for several organizations";
    throw new FlatlineError("api_bad_request", issue, { issues: [issue] });
  }
  const chosen = slug ?? organizations[0];
  if (chosen !== undefined && (await reaches(chosen, options))) return chosen;
  throw new FlatlineError(refusal, "this key has no access to that organization");
}
