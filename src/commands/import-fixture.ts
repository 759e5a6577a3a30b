import type { ActDeps } from "./with-store.ts";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import type { FixtureText } from "../service/fixture/file.ts";
import { importFixtures, type FixtureCounts } from "../service/fixture/fixture.ts";
import { readFixtureText } from "../daemon/fixture-text.ts";
import { withEmbeddedStore } from "./keys.ts";
import type { Store } from "../store/store.ts";
import { actor } from "../contract/actor.ts";

/**
 * Imports fixtures into the embedded service's store in one transaction (CONTRACT 3 and 10).
 * @throws no_input, too_large, invalid_data with every problem, usage with a remote source
 */
export async function importFixtureFiles(
  config: Config,
  deps: ActDeps,
  files: readonly string[],
): Promise<FixtureCounts> {
  const texts: FixtureText[] = [];
  for (const file of files) texts.push({ name: file, text: await readFixtureText(resolve(deps.cwd, file), file) });
  const configured = config.organizations.map(({ slug }) => slug);
  const by = actor(deps.userName(), "cli");
  const work = (store: Store) => importFixtures({ store, clock: deps.clock, files: texts, configured, by });
  return withEmbeddedStore(config, deps, work, { mustExist: false });
}
