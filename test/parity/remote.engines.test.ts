import { createSilentLogger } from "../../src/base/logger.ts";
import { createSystemClock } from "../../src/base/time.ts";
import { createHttpDispatcher } from "../../src/base/http-dispatcher.ts";
import { createConnectedClient } from "../../src/client/connected-client.ts";
import { findKey } from "../../src/service/api-keys.ts";
import { apiV2Routes } from "../../src/service/api/routes.ts";
import type { KeyIdentity } from "../../src/service/api-keys.ts";
import { createLocalPlatformApi } from "../../src/service/local-platform-api.ts";
import { storeEngines } from "../support/store/engines.ts";
import { startWeb } from "../support/web-harness.ts";
import { describePlatformApi, parityNowMs, seedParity } from "./platform-api.ts";

for (const { engine, openTemporary } of storeEngines)
  describePlatformApi(`client → HTTP → routes → local on ${engine}`, async () => {
    // Only the wall stands still: the wire needs real timeouts.
    const clock = { ...createSystemClock(), nowMs: () => parityNowMs };
    const opened = await openTemporary(clock);
    const { store } = opened;
    await seedParity(store);
    const logger = createSilentLogger();
    const service = {
      authenticate: (apiKey: string) => findKey(store, apiKey),
      apiFor: (identity: KeyIdentity) =>
        createLocalPlatformApi({ store, clock, appUrl: null, identity, isConfigured: () => false }),
      onRequest: () => undefined,
      clock,
      logger,
    };
    const web = await startWeb({ plugins: (bodies) => [apiV2Routes({ ...service, bodies })], logger });
    const dispatcher = createHttpDispatcher({ env: {} });
    return {
      as: ({ key }) => createConnectedClient({ baseUrl: `${web.url}/api/v2`, apiKey: key, dispatcher }),
      close: async () => {
        await dispatcher.destroy();
        await web.close();
        await opened.close();
      },
    };
  });
