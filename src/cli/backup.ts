import type { Command } from "commander";
import { backupTo } from "../commands/backup.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";

interface BackupFlags {
  readonly config?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** `flatline backup FILE` */
export const registerBackup: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("backup")
    .description("copy the store to a file, consistent, also while the daemon runs")
    .argument("<file>", "where the copy is to be")
    .option("-c, --config <file>", "configuration file")
    .option("--force", "replace a file that is there already")
    .option("--json", "print {file, bytes, schemaVersion}")
    .addHelpText("after", help)
    .action(async (file: string, flags: BackupFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const outcome = await backupTo(config, context, file, { force: flags.force === true });
      const { bytes, schemaVersion } = outcome;
      const text = `${file}: ${bytes} bytes, schema version ${schemaVersion}, checked`;
      context.stdout.write(`${flags.json === true ? JSON.stringify({ file, bytes, schemaVersion }) : text}\n`);
    });
};

const help = `
The copy is the store as it was at one moment, checked, readable by its owner only, and has its name only when it is whole.
No writer waits for it. To restore it: stop flatline, put it in the place of the store, remove the store's -wal and -shm.
A store in PostgreSQL (storage.url) is backed up with pg_dump.

Exit code: 0; 64 when the file exists already or the store is a PostgreSQL; 66 without a store; 74 when it cannot be read,
is damaged, or the copy cannot be written.

Example:
  flatline backup /var/backups/flatline-$(date +%F).db
`;
