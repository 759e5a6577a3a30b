// Imports a file in a process of its own, for tests that kill it or watch it from beside: DATABASE FILE, the database a
// path or a postgres:// URL. Says "writing" as soon as rows are written, "done" at the end.
import { asFlatlineError } from "../../../src/base/errors.ts";
import { Secret } from "../../../src/base/secret.ts";
import { createSystemClock } from "../../../src/base/time.ts";
import { importEvents } from "../../../src/store/events/import.ts";
import { storeTarget } from "../../../src/store/events/imports.ts";
import { openStore } from "../../../src/store/open.ts";

const [, , database = "", file = ""] = process.argv;
const location = database.startsWith("postgres://") ? { url: new Secret(database) } : { path: database };
try {
  const clock = createSystemClock();
  const store = await openStore({ ...location, clock });
  const outcome = await importEvents({
    target: storeTarget(store, clock),
    files: [file],
    rebaseTo: null,
    signal: new AbortController().signal,
    onProgress: (phase, rows) => process.stdout.write(`${phase} ${rows}\n`),
  });
  await store.close();
  process.stdout.write(`done ${outcome.stored}\n`);
} catch (error) {
  process.stderr.write(`${asFlatlineError(error).message}\n`);
  process.exitCode = 1;
}
