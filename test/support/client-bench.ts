import { afterEach, beforeEach } from "vitest";

import { FlatlineError } from "../../src/base/errors.ts";
import { createHttpDispatcher, type HttpDispatcher } from "../../src/base/http-dispatcher.ts";
import type { RequestEvent } from "../../src/client/client.ts";
import {
  createConnectedClient,
  type ConnectedClient,
  type ConnectedClientOptions,
} from "../../src/client/connected-client.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "./far-side/scripted-upstream.ts";
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";

/** A key that is long enough to be one, so that an echo of it is seen. */
export const benchKey = "key-0123456789abcdef";

/** A client before a scripted upstream, on a clock that the test moves; backoff takes no time. */
export interface ClientBench {
  readonly upstream: ScriptedUpstream;
  readonly clock: VirtualClock;
  readonly dispatcher: HttpDispatcher;
  readonly events: readonly RequestEvent[];
  /** Another client of the same upstream; `client` is the one with no options. */
  create(options?: Partial<ConnectedClientOptions>): ConnectedClient;
  readonly client: ConnectedClient;
  close(): Promise<void>;
}

/** A bench for each test of the file. */
export function clientBench(): ClientBench {
  const bench = {} as ClientBench;
  beforeEach(async () => void Object.assign(bench, await openClientBench()));
  afterEach(() => bench.close());
  return bench;
}

async function openClientBench(): Promise<ClientBench> {
  const upstream = await startScriptedUpstream();
  const clock = createVirtualClock({ startMs: Date.UTC(2026, 0, 1) });
  const dispatcher = createHttpDispatcher({ env: {} });
  const events: RequestEvent[] = [];
  function create(options: Partial<ConnectedClientOptions> = {}): ConnectedClient {
    return createConnectedClient({
      baseUrl: upstream.baseUrl,
      apiKey: benchKey,
      userAgent: "flatline/test",
      dispatcher,
      clock,
      random: () => 0,
      onRequest: (event) => events.push(event),
      ...options,
    });
  }
  return {
    upstream,
    clock,
    dispatcher,
    events,
    create,
    client: create(),
    close: async () => {
      await dispatcher.destroy();
      await upstream.close();
      clock.assertIdle();
    },
  };
}

/** What `promise` rejects with; a resolved one, or another error than ours, fails the test. */
export async function errorOf(promise: Promise<unknown>): Promise<FlatlineError> {
  const outcome: unknown = await promise.then(
    (value) => new Error(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof FlatlineError) return outcome;
  throw outcome;
}
