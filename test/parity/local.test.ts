import { openTemporaryStore } from "../support/temporary-store.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { createLocalPlatformApi } from "../../src/service/local-platform-api.ts";
import { describePlatformApi, parityNowMs, seedParity } from "./platform-api.ts";

describePlatformApi("local", async () => {
  const clock = createVirtualClock({ startMs: parityNowMs });
  const opened = await openTemporaryStore(clock);
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
