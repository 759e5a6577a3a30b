import { createHttpDispatcher } from "../../src/base/http.ts";
import { createClient } from "../../src/client/client.ts";
import { createLocalPlatformApi, type SpikeEvaluator } from "../../src/service/local-platform-api.ts";
import { countEvents } from "../../src/spike/spike.ts";
import { startApiServer } from "../support/api-server.ts";
import { describePlatformApi, parityDeaths, parityNowMs } from "./platform-api.ts";

function createLocal(): SpikeEvaluator {
  return createLocalPlatformApi({
    store: {
      events: {
        counts: async ({ slug, ...window }) => {
          const deaths = parityDeaths.filter((death) => death.slug === slug);
          return countEvents(deaths, window).assetTypes;
        },
      },
    },
    clock: { nowMs: () => parityNowMs },
    appUrl: null,
    organizations: [...new Set(parityDeaths.map((death) => death.slug))],
  });
}

describePlatformApi("local", async () => ({ api: createLocal(), close: async () => undefined }));

describePlatformApi("client → HTTP → local", async () => {
  const server = await startApiServer(createLocal());
  const dispatcher = createHttpDispatcher({ env: {} });
  return {
    api: createClient({ baseUrl: server.baseUrl, apiKey: "parity-key", dispatcher }),
    close: async () => {
      await dispatcher.destroy();
      await server.close();
    },
  };
});
