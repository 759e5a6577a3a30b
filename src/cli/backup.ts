import { resolve } from "node:path";

import type { Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { storeLocation } from "../daemon/parts.ts";
import { backupStore } from "../store/backup.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { AskFlags, CliContext, RegisterCommand } from "./context.ts";

/** `flatline backup FILE` */
export const registerBackup: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("backup")
    .description("copy the store, consistent, also while the daemon runs")
    .argument("<file>", "where the copy is to be")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print {file, bytes, schemaVersion}")
    .addHelpText("after", help)
    .action(async (file: string, flags: Pick<AskFlags, "config" | "json">) => {
      const config = await loadCommandConfig(flags.config, context);
      const location = storeLocation(config, context.cwd);
      if ("url" in location)
        throw new FlatlineError(
          "usage",
          'the store is a PostgreSQL database (storage.url): use its own backup tools, see pg_dump --format=custom --file=flatline.dump "$STORAGE_URL"',
        );
      const target = resolve(context.cwd, file);
      const { bytes, schemaVersion } = await backupStore({ path: location.path, target });
      const text = `${file}: ${bytes} bytes, schema version ${schemaVersion}, checked`;
      const view = { file, bytes, schemaVersion };
      context.stdout.write(`${flags.json === true ? JSON.stringify(view) : text}\n`);
    });
};

const help = `
The copy is consistent, checked, readable by its owner only, and has its name only when it is whole. No writer waits for it.
To restore, copy it back while no flatline runs on the store (docs/operations.md, "Backup").
A store in PostgreSQL (storage.url) is backed up with pg_dump.

Exit code: 0; 64 when the file exists already or the store is a PostgreSQL; 66 without a store; 74 when it cannot be read,
is damaged, or the copy cannot be written.

Example:
  flatline backup /var/backups/flatline-$(date +%F).db
`;
