import type { Command } from "commander";
import { FlatlineError } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import { forgetOrganization } from "../commands/forget.ts";
import { loadFleetConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";

interface ForgetFlags {
  readonly config?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `flatline forget SLUG --yes` */
export const registerForget: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("forget")
    .description("remove everything stored of an organization that is no longer configured")
    .argument("<slug>", "the organization")
    .option("--yes", "remove it; nothing brings it back")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print how many rows of each kind were removed")
    .addHelpText("after", help)
    .action(async (slug: string, flags: ForgetFlags) => {
      const { config, unlisted } = await loadFleetConfig(flags.config, context);
      if (unlisted.length > 0) {
        const message = `it is unknown whether ${JSON.stringify(slug)} is configured, because a discovery source was never read: nothing was removed`;
        throw new FlatlineError("unavailable", message);
      }
      const asked = { slug, user: context.userName(), isConfirmed: flags.yes === true };
      const removed = await forgetOrganization(config, context, asked);
      const rows = Object.entries(removed).map(([kind, count]) => [kind, formatCount(count)]);
      context.stdout.write(
        flags.json === true
          ? `${JSON.stringify(removed, null, 2)}\n`
          : renderTable(["REMOVED", "ROWS"], rows, { right: ["ROWS"], context }),
      );
    });
};

const help = `
Works while a daemon runs. Take the organization out of the configuration and reload first. Keys that reach others too,
assets, which belong to no organization, and the audit stay; what is still to be delivered is delivered.

Example:
  flatline forget acme --yes
`;
