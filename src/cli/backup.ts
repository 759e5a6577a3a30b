import { resolve } from "node:path";

import { FlatlineError } from "../base/errors.ts";
import { storeLocation } from "../daemon/parts.ts";
import { backupStore } from "../store/backup.ts";
import { command, configFlag } from "./command.ts";
import { loadCommandConfig } from "./command-config.ts";

export const backup = command({
  description: "copy the store, consistent, also while the daemon runs",
  words: [["<file>", "where the copy is to be"]],
  flags: configFlag,
  json: "print {file, bytes, schemaVersion}",
  help: `
The copy is consistent, checked, readable by its owner only, and has its name only when it is whole.
No writer waits for it.
To restore, copy it back while no flatline runs on the store (docs/operations.md, "Backup").
A store in PostgreSQL (storage.url) is backed up with pg_dump.

Exit code: 0; 64 when the file exists already or the store is a PostgreSQL; 66 without a store; 74
when it cannot be read, is damaged, or the copy cannot be written.

Example:
  flatline backup /var/backups/flatline-$(date +%F).db
`,
  run: async ({ context, flags, words: [file] }) => {
    const location = storeLocation(await loadCommandConfig(flags.config, context), context.cwd);
    if ("url" in location)
      throw new FlatlineError(
        "usage",
        "the store is a PostgreSQL database (storage.url): use its own backup tools, " +
          'see pg_dump --format=custom --file=flatline.dump "$STORAGE_URL"',
      );
    const target = resolve(context.cwd, file);
    const { bytes, schemaVersion } = await backupStore({ path: location.path, target });
    return { file, bytes, schemaVersion };
  },
  say: ({ file, bytes, schemaVersion }) => `${file}: ${bytes} bytes, schema version ${schemaVersion}, checked\n`,
});
