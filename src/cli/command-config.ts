import { loadCheckedConfig } from "../commands/config-check.ts";
import type { Config } from "../config/config.ts";
import { findConfigPath } from "../config/load.ts";
import type { CliContext } from "./context.ts";

/** Finds and reads the configuration of a command (CONTRACT 3). @throws invalid_config */
export async function loadCommandConfig(flag: string | undefined, context: CliContext): Promise<Config> {
  const { env, cwd } = context;
  return loadCheckedConfig({ path: await findConfigPath({ flag, env, cwd }), cwd, env });
}
