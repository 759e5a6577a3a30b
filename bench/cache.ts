import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where benchmarks keep what takes minutes to build, until the run is over; with `--keep` for the next run, too. */
export const cacheFolder = join(tmpdir(), "flatline-bench-cache");

/** A folder of the cache, made when it is not there. */
export function cachedFolder(name: string): string {
  const folder = join(cacheFolder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Removes all of it. */
export function removeCache(): void {
  rmSync(cacheFolder, { recursive: true, force: true });
}
