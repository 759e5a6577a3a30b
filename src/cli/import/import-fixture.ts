import type { Command } from "commander";
import { importFixtureFiles } from "../../commands/import-fixture.ts";
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
