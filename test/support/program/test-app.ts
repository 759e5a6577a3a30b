import { createSilentLogger } from "../../../src/base/logger.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { AppDeps } from "../../../src/daemon/ground.ts";
import { createApp, type App } from "../../../src/daemon/app.ts";

/** Creates a daemon in this process by flatline.yaml in the folder: silent, and with the same chance at each call. */
export async function createTestApp(folder: string, given: Partial<AppDeps> & Pick<AppDeps, "clock">): Promise<App> {
  const readConfig = () => loadConfig({ path: "flatline.yaml", cwd: folder, env: given.env ?? {} });
  return createApp(await readConfig(), {
    env: {},
    cwd: folder,
    random: () => 0.5,
    version: "0.0.0",
    nodeVersion: "24.0.0",
    logger: createSilentLogger(),
    readConfig,
    withProcessMetrics: false,
    ...given,
  });
}
