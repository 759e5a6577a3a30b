import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where benchmarks keep what takes minutes to build, until the last run that uses it is over; with `--keep` longer. */
export const cacheFolder = join(tmpdir(), "flatline-bench-cache");
// A file for each run that uses it, named after its process.
const usersFolder = join(cacheFolder, "users");

/** A folder of the cache, made when it is not there. */
export function cachedFolder(name: string): string {
  const folder = join(cacheFolder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Says that this process uses the cache; when it ends, all of it is removed, unless another one uses it or it is to be kept. */
export function useCache(isKept: boolean): void {
  mkdirSync(usersFolder, { recursive: true });
  const own = join(usersFolder, String(process.pid));
  writeFileSync(own, "");
  process.once("exit", () => {
    rmSync(own, { force: true });
    if (!isKept && !readdirSync(usersFolder).some(isAlive)) rmSync(cacheFolder, { recursive: true, force: true });
  });
}

function isAlive(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}
