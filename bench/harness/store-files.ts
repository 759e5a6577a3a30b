import { copyFile } from "node:fs/promises";
import { rmSync } from "node:fs";

import { eventsPathOf } from "../../src/store/engine/location.ts";

/** Copies a closed store. */
export async function copyStore(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await copyFile(eventsPathOf(from), eventsPathOf(to));
}

/** Every file of a store. */
export function storeFiles(path: string): readonly string[] {
  return [path, eventsPathOf(path)].flatMap((file) => ["", "-wal", "-shm"].map((ending) => `${file}${ending}`));
}

/** Removes a closed store. */
export function removeStore(path: string): void {
  for (const file of storeFiles(path)) rmSync(file, { force: true });
}
