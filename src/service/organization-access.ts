import { FlatlineError } from "../base/errors.ts";
import type { StoreParts } from "../store/store.ts";
import type { KeyIdentity } from "./key-identity.ts";

export interface OrganizationAccessOptions {
  readonly store: {
    readonly events: Pick<StoreParts["events"], "firstEventAtMs">;
    readonly platform: { readonly organizations: Pick<StoreParts["platform"]["organizations"], "idOf"> };
  };
  readonly identity: KeyIdentity;
  /** Whether the configuration names it: such an organization exists before anything of it is stored. */
  readonly isConfigured: (slug: string) => boolean;
}

/** Whether the key reaches the organization, and it exists: to the key's holder the two are the same (CONTRACT 9). */
export async function reaches(slug: string, options: OrganizationAccessOptions): Promise<boolean> {
  const { identity, store, isConfigured } = options;
  if (!identity.organizations.includes(slug)) return false;
  if (isConfigured(slug) || (await store.platform.organizations.idOf(slug)) !== null) return true;
  return (await store.events.firstEventAtMs(slug)) !== null;
}

/**
 * The organization that a request is about: `slug`, or without one the key's only organization.
 * @throws api_bad_request when there are several to choose from, and with `refusal` for one out of reach
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
