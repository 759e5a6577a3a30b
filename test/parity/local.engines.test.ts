import { storeEngines } from "../support/store/engines.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { createLocalPlatformApi } from "../../src/service/local-platform-api.ts";
import { describePlatformApi, parityNowMs, seedParity } from "./platform-api.ts";

for (const { engine, openTemporary } of storeEngines)
  describePlatformApi(`local on ${engine}`, async () => {
    const clock = createVirtualClock({ startMs: parityNowMs });
    const opened = await openTemporary(clock);
    const { store } = opened;
    await seedParity(store);
    return {
      as: ({ key, role, organizations }) =>
        createLocalPlatformApi({
          store,
          clock,
          appUrl: null,
          identity: { role, organizations, keyId: key },
          isConfigured: () => false,
        }),
      close: () => opened.close(),
    };
  });
