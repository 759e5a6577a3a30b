import { resolve } from "node:path";
import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import { backupStore, type BackupOutcome } from "../store/backup.ts";
import { eventsPathOf } from "../store/engine/location.ts";
import { restoreStore } from "../store/restore.ts";
import { storeLocation, type PartsDeps } from "../daemon/parts.ts";

/**
 * Writes a consistent copy of the configured store, also while a daemon uses it.
 * @throws usage with a PostgreSQL, which has its own tools, and the errors of backupStore
 */
export async function backupTo(
  config: Config,
  deps: Pick<PartsDeps, "cwd">,
  file: string,
  { force }: { readonly force: boolean },
): Promise<BackupOutcome & { readonly eventsFile: string }> {
  const location = storeLocation(config, deps.cwd);
  if (!("path" in location)) {
    throw new FlatlineError(
      "usage",
      "the store is a PostgreSQL database (storage.url): use its own backup tools, see " +
        'pg_dump --format=custom --file=flatline.dump "$STORAGE_URL"',
    );
  }
  const outcome = await backupStore({ path: location.path, target: resolve(deps.cwd, file), force });
  return { ...outcome, eventsFile: eventsPathOf(file) };
}

/**
 * Puts a backup in the place of the configured store.
 * @throws usage with a PostgreSQL, which has tools of its own, and what restoreStore throws
 */
export async function restoreFrom(
  config: Config,
  deps: Pick<PartsDeps, "cwd" | "clock">,
  file: string,
  { force, user }: { readonly force: boolean; readonly user: string },
): Promise<BackupOutcome & { readonly path: string }> {
  const location = storeLocation(config, deps.cwd);
  if (!("path" in location)) {
    throw new FlatlineError(
      "usage",
      "the store is a PostgreSQL (storage.url): stop every replica and restore it with its own tools, as in " +
        'pg_restore --clean --if-exists --no-owner --dbname="$STORAGE_URL" flatline.dump',
    );
  }
  const { path } = location;
  const by = actor(user, "cli");
  const outcome = await restoreStore({ backup: resolve(deps.cwd, file), path, force, clock: deps.clock, by });
  return { ...outcome, path };
}
