import { FlatlineError } from "../base/errors.ts";
import type { Secret } from "../base/secret.ts";
import { createSystemClock } from "../base/time.ts";
import type { PlatformSource } from "../contract/platform-api.ts";
import { createConnectedClient, type ConnectedClient, type ConnectedClientOptions } from "./connected-client.ts";
import { accountOf, PauseRegistry } from "./pauses.ts";

export interface PlatformSourceOptions extends Omit<ConnectedClientOptions, "apiKey"> {
  /** For organizations without a key of their own; null when each has one. */
  readonly apiKey: Secret | null;
  /** The organization's own key, which goes before `apiKey`; null when it has none. */
  readonly apiKeyOf: (slug: string) => Secret | null;
}

export interface RemotePlatformSource extends PlatformSource {
  forOrganization(slug: string): ConnectedClient;
  endPause(slug: string): void;
}

/**
 * Clients of one service, one for each key, made when first asked for; they share the dispatcher and their pauses.
 * `forOrganization` throws invalid_config when there is no key for the slug.
 */
export function createPlatformSource(options: PlatformSourceOptions): RemotePlatformSource {
  const clock = options.clock ?? createSystemClock();
  const pauses = options.pauses ?? new PauseRegistry({ clock });
  const shared = { ...options, clock, pauses };
  const clients = new Map<string, ConnectedClient>();
  const keyOf = (slug: string): Secret | null => options.apiKeyOf(slug) ?? options.apiKey;
  return {
    endPause: (slug) => {
      const apiKey = keyOf(slug);
      if (apiKey !== null) pauses.end(accountOf(new URL(options.baseUrl).origin, apiKey));
    },
    forOrganization: (slug) => {
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
