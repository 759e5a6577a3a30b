import { resolve } from "node:path";

import type { Command } from "commander";

import { withEmbeddedStore } from "../keys.ts";
import type { ActDeps } from "../with-store.ts";
import type { Config } from "../../config/config.ts";
import { actor } from "../../contract/actor.ts";
import { readFixtureText } from "../../daemon/fixture-text.ts";
import type { FixtureText } from "../../service/fixture/file.ts";
import { importFixtures, type FixtureCounts } from "../../service/fixture/fixture.ts";
import type { Store } from "../../store/store.ts";
import { loadFleetConfig } from "../command-config.ts";
import type { CliContext, RegisterCommand } from "../context.ts";

/** `flatline import fixture FILE…`, under the command `import` when there is one already. */
export const registerImportFixture: RegisterCommand = (program: Command, context: CliContext): void => {
  const parent =
    program.commands.find((command) => command.name() === "import") ??
    program.command("import").description("load data into the embedded store");
  parent
    .command("fixture")
    .description("load organizations, brands, keys, assets, rules and reports; all files or nothing")
    .argument("<file...>", "fixtures, YAML or JSON")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print the counts as JSON")
    .addHelpText("after", help)
    .action(async (files: string[], flags: { readonly config?: string; readonly json?: boolean }) => {
      const { config } = await loadFleetConfig(flags.config, context);
      const counts = await importFixtureFiles(config, context, files);
      const text = Object.entries(counts)
        .map(([name, count]) => `${count} ${wordFor(name, count)}`)
        .join(", ");
      context.stdout.write(flags.json === true ? `${JSON.stringify(counts)}\n` : `imported ${text}\n`);
    });
};

/** What is counted: `legitimacyRules` as "legitimacy rules", or "legitimacy rule" where it is one. */
function wordFor(name: string, count: number): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return count === 1 ? words.replace(/s$/, "") : words;
}

const help = `
Upserted by id or name, also while the daemon runs. A proposal that comes again as queued and not resolved is escalated
again. Keys, rules and reports may be of organizations that the configuration names or that have events.

Example:
  flatline import fixture examples/fixture.yaml
`;

/**
 * Imports fixtures into the embedded service's store in one transaction (CONTRACT 3 and 10).
 * @throws no_input, too_large, invalid_data with every problem, usage with a remote source
 */
async function importFixtureFiles(config: Config, deps: ActDeps, files: readonly string[]): Promise<FixtureCounts> {
  const texts: FixtureText[] = [];
  for (const file of files) texts.push({ name: file, text: await readFixtureText(resolve(deps.cwd, file), file) });
  const configured = config.organizations.map(({ slug }) => slug);
  const by = actor(deps.userName(), "cli");
  const work = (store: Store) => importFixtures({ store, clock: deps.clock, files: texts, configured, by });
  return withEmbeddedStore(config, deps, work, { mustExist: false });
}
