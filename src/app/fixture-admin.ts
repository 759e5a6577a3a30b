import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import type { FixtureText } from "../service/fixture-file.ts";
import { importFixtures, type FixtureCounts } from "../service/fixture.ts";
import { withEmbeddedStore } from "./key-admin.ts";
import type { PartsDeps } from "./parts.ts";

// Before it is read: what is longer than a string may be would fail in the middle.
const longestFileBytes = 256 * 1_024 * 1_024;

/**
 * Imports fixtures into the embedded service's store, all files or nothing (CONTRACT 3 and 10).
 * @throws no_input, too_large, invalid_data with every problem, usage with a remote source
 */
export async function importFixtureFiles(
  config: Config,
  deps: PartsDeps,
  files: readonly string[],
): Promise<FixtureCounts> {
  const texts: FixtureText[] = [];
  for (const file of files) texts.push({ name: file, text: await readFixtureText(resolve(deps.cwd, file), file) });
  return withEmbeddedStore(config, deps, (store) => importFixtures({ store, clock: deps.clock, files: texts }));
}

async function readFixtureText(path: string, name: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= longestFileBytes) return await readFile(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new FlatlineError("no_input", `${name} cannot be read: ${reason}`, { cause: error });
  }
  throw new FlatlineError("too_large", `${name} is larger than ${longestFileBytes} bytes`);
}
