import { resolve } from "node:path";
import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { importEvents, type ImportOptions, type ImportOutcome } from "../store/events/import.ts";
import { storeLocation } from "../daemon/parts.ts";
import { actor } from "../contract/actor.ts";
import { withStore, type ActDeps } from "./with-store.ts";

export interface ImportFilesOptions extends Pick<ImportOptions, "rebaseToMs" | "again" | "onProgress" | "signal"> {
  /** `-` is standard input. */
  readonly files: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
}

/**
 * Imports files of liveness events into the embedded source's store, completely or not at all, also while a daemon uses it
 * (CONTRACT 3 and 10).
 * @throws usage with any other source, and the errors of importEvents
 */
export async function importEventFiles(
  config: Config,
  deps: ActDeps,
  { files, stdin, ...options }: ImportFilesOptions,
): Promise<ImportOutcome> {
  const { type, isLocal, holdsEvents } = config.source;
  if (!holdsEvents) {
    const reason = isLocal
      ? `a ${type} source reads the events from their table`
      : "a remote service counts its own events";
    throw new FlatlineError("usage", `import events needs source.type: embedded: ${reason}`);
  }
  if (files.filter((file) => file === "-").length > 1) {
    throw new FlatlineError("usage", "standard input (-) can be read only once");
  }
  const outcome = await importEvents({
    ...options,
    location: storeLocation(config, deps.cwd),
    files: files.map((file) =>
      file === "-" ? { name: "standard input", stream: stdin } : { name: file, path: resolve(deps.cwd, file) },
    ),
    clock: deps.clock,
  });
  const { files: _files, firstAtMs: _first, lastAtMs: _last, ...detail } = outcome;
  const by = { atMs: deps.clock.nowMs(), actor: actor(deps.userName(), "cli") };
  const act = { action: "import.events", slug: null, subject: files.join(", "), detail } as const;
  await withStore(config, deps, ({ store }) => store.audit.append({ ...by, ...act }));
  return outcome;
}
