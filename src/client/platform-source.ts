import { FlatlineError } from "../base/errors.ts";
import type { Secret } from "../base/secret.ts";
import { createSystemClock } from "../base/time.ts";
import { createConnectedClient, type ConnectedClient, type ConnectedClientOptions } from "./connected-client.ts";
import { accountOf, PauseRegistry } from "./pauses.ts";

export interface PlatformSourceOptions extends Omit<ConnectedClientOptions, "apiKey"> {
  /** The key of organizations without their own; null: each has one. */
  readonly apiKey: Secret | null;
  /** Returns the organization's own key, which takes precedence over `apiKey`; null: it has none. */
  readonly apiKeyOf: (slug: string) => Secret | null;
}

/** Creates one client per key. `forOrganization` throws invalid_config for an organization without a key. */
export function createPlatformSource(options: PlatformSourceOptions) {
  const clock = options.clock ?? createSystemClock();
  const pauses = options.pauses ?? new PauseRegistry({ clock });
  const shared = { ...options, clock, pauses };
  const clients = new Map<string, ConnectedClient>();
  const keyOf = (slug: string): Secret | null => options.apiKeyOf(slug) ?? options.apiKey;
  return {
    endPause: (slug: string): void => {
      const apiKey = keyOf(slug);
      if (apiKey !== null) pauses.end(accountOf(new URL(options.baseUrl).origin, apiKey));
    },
    forOrganization: (slug: string): ConnectedClient => {
      const apiKey = keyOf(slug);
      if (apiKey === null)
        throw new FlatlineError("invalid_config", `there is no API key for the organization ${slug}`);
      const known = clients.get(apiKey.reveal());
      if (known !== undefined) return known;
      const client = createConnectedClient({ ...shared, apiKey });
      clients.set(apiKey.reveal(), client);
      return client;
    },
  };
}
