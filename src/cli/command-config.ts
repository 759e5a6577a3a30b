import type { JoinedConfig } from "./read-store.ts";
import type { Config } from "../config/config.ts";
import { loadConfig, findConfigPath } from "../config/load.ts";
import type { CliContext } from "./context.ts";

/** Finds and reads the configuration of a command (CONTRACT 3). @throws invalid_config */
export async function loadCommandConfig(flag: string | undefined, context: CliContext): Promise<Config> {
  const { env, cwd } = context;
  return loadConfig({ path: await findConfigPath({ flag, env, cwd }), cwd, env });
}

/**
 * Loads the configuration as loadCommandConfig does, with the organizations of its discovery sources, for a command that is about organizations; says on
 * stderr of which source they are not known.
 */
export async function loadFleetConfig(flag: string | undefined, context: CliContext): Promise<JoinedConfig> {
  // Loaded for those who need it: most commands start without the store.
  const { joinDiscovered } = await import("./read-store.ts");
  const joined = await joinDiscovered(await loadCommandConfig(flag, context), context);
  for (const { name, reason } of joined.unlisted)
    context.stderr.write(`flatline: the organizations of discovery source ${name} are not known: ${reason}\n`);
  return joined;
}
