import { resolve } from "node:path";

import type { Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import { storeLocation } from "../daemon/parts.ts";
import { backupStore } from "../store/backup.ts";
import { eventsPathOf } from "../store/engine/location.ts";
import { restoreStore } from "../store/restore.ts";
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
    .description("copy the store, consistent, also while the daemon runs")
    .argument("<file>", "where the copy is to be")
    .option("-c, --config <file>", "configuration file")
    .option("--force", "replace a file that is there already")
    .option("--json", "print {file, eventsFile, bytes, schemaVersion}")
    .addHelpText("after", help)
    .action(async (file: string, flags: BackupFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const instead = `use its own backup tools, see pg_dump --format=custom --file=flatline.dump "$STORAGE_URL"`;
      const path = storePath(config, context.cwd, instead);
      const copy = { path, target: resolve(context.cwd, file), force: flags.force === true };
      const { bytes, schemaVersion } = await backupStore(copy);
      const eventsFile = eventsPathOf(file);
      const text = `${file} and ${eventsFile}: ${bytes} bytes, schema version ${schemaVersion}, checked`;
      const view = { file, eventsFile, bytes, schemaVersion };
      context.stdout.write(`${flags.json === true ? JSON.stringify(view) : text}\n`);
    });
};

const help = `
The copy is two files, as the store is: all state in FILE, and the events beside it, in flatline-DATE-events.db for the example
below. Each is consistent, checked, readable by its owner only, and has its name only when it is whole. Keep them together.
No writer waits for it. "flatline restore FILE" puts both back.
A store in PostgreSQL (storage.url) is backed up with pg_dump.

Exit code: 0; 64 when the file exists already or the store is a PostgreSQL; 66 without a store; 74 when it cannot be read,
is damaged, or the copy cannot be written.

Example:
  flatline backup /var/backups/flatline-$(date +%F).db
`;

/** `flatline restore FILE` */
export const registerRestore: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("restore")
    .description("put a backup in the place of the store, while no daemon runs on it")
    .argument("<file>", "a copy that `flatline backup` wrote")
    .option("-c, --config <file>", "configuration file")
    .option("--force", "replace a store that is there already")
    .option("--json", "print {file, store, bytes, schemaVersion}")
    .addHelpText("after", restoreHelp)
    .action(async (file: string, flags: BackupFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const instead =
        "stop every replica and restore it with its own tools, as in " +
        'pg_restore --clean --if-exists --no-owner --dbname="$STORAGE_URL" flatline.dump';
      const path = storePath(config, context.cwd, instead);
      const by = actor(context.userName(), "cli");
      const asked = { backup: resolve(context.cwd, file), path, force: flags.force === true, clock: context.clock, by };
      const { bytes, schemaVersion } = await restoreStore(asked);
      const text = `${path}: restored from ${file}, ${bytes} bytes, schema version ${schemaVersion}, checked`;
      const view = { file, store: path, bytes, schemaVersion };
      context.stdout.write(`${flags.json === true ? JSON.stringify(view) : text}\n`);
    });
};

const restoreHelp = `
The file with the events must be beside the backup. Both are copied and checked before the store is touched; then the two files
of the store are replaced. A backup of an older release is migrated at the next start. A store in PostgreSQL (storage.url) is
restored with pg_restore.

Exit code: 0; 64 when there is a store already (--force replaces it) or the store is a PostgreSQL; 66 without the backup;
74 when it is damaged or no store of flatline; 75 while a daemon runs on the store; 78 when a newer flatline wrote it.

Example:
  flatline restore /var/backups/flatline-2026-01-15.db
`;

/** Returns the path of the configured store. @throws usage with a PostgreSQL, which has tools of its own: `instead` says which */
function storePath(config: Config, cwd: string, instead: string): string {
  const location = storeLocation(config, cwd);
  if ("path" in location) return location.path;
  throw new FlatlineError("usage", `the store is a PostgreSQL database (storage.url): ${instead}`);
}
