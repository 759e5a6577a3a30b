import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { maxSecretBytes, readInputFile, secretOf } from "../config/document/files.ts";
import { loadConfig, findConfigPath } from "../config/load.ts";
import type { CliContext } from "./context.ts";

/** Finds and reads the configuration of a command (CONTRACT 3). @throws invalid_config */
export async function loadCommandConfig(flag: string | undefined, context: CliContext): Promise<Config> {
  const { env, cwd } = context;
  return loadConfig({ path: findConfigPath({ flag, env, cwd }), cwd, env });
}

/** Loads the configuration with discovered organizations; prints which sources have none that are known. */
export async function loadFleetConfig(flag: string | undefined, context: CliContext) {
  // Most commands start without the store.
  const { joinDiscovered } = await import("./read-store.ts");
  const joined = await joinDiscovered(await loadCommandConfig(flag, context), context);
  for (const { name, reason } of joined.unlisted)
    context.stderr.write(`flatline: the organizations of discovery source ${name} are not known: ${reason}\n`);
  return joined;
}

/** Returns the configuration with a store in a temporary folder, and the function that removes the folder. */
export async function makeScratch(
  config: Config,
): Promise<{ readonly config: Config; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-"));
  const storage: Config["storage"] = { ...config.storage, path: join(folder, "flatline.db"), url: null };
  return { config: { ...config, storage }, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Reads the secret file of a flag. @throws usage */
export async function readSecretFile(flag: string, file: string, cwd: string): Promise<string> {
  const content = await readInputFile(resolve(cwd, file), maxSecretBytes);
  if (content.kind === "content") return secretOf(content.bytes);
  throw new FlatlineError("usage", `${flag}: the file ${file} ${content.reason}`);
}
