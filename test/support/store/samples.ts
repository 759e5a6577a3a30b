import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { eventsPathOf } from "../../../src/store/engine/location.ts";

/** The packed files of the sample of a schema version: all state, and the events. */
export function sampleOf(version: number): readonly [state: string, events: string] {
  const name = `sqlite-${String(version).padStart(4, "0")}.db`;
  const path = fileURLToPath(new URL(`../../fixtures/stores/${name}`, import.meta.url));
  return [`${path}.gz`, `${eventsPathOf(path)}.gz`];
}

/** Puts the sample's store at `path`. */
export async function unpackSample(version: number, path: string): Promise<void> {
  const [state, events] = sampleOf(version);
  await writeFile(path, gunzipSync(await readFile(state)), { mode: 0o600 });
  await writeFile(eventsPathOf(path), gunzipSync(await readFile(events)), { mode: 0o600 });
}
