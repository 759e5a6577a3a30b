import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { packBuilt } from "../../../scripts/pack.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);

/** The package as a user has it. */
export interface InstalledPackage extends AsyncDisposable {
  /** An empty folder outside of the repository, with the package in its node_modules. */
  readonly folder: string;
  readonly tarball: string;
  /** What the tarball holds, by paths. */
  readonly files: readonly string[];
  readonly tarballBytes: number;
}

/**
 * Packs the repository as it was built last and installs the tarball. npm is offline and its cache empty: whatever the
 * package needed beside itself would be missing.
 */
export async function installPackage(): Promise<InstalledPackage> {
  const top = await mkdtemp(join(tmpdir(), "flatline-package-"));
  const packed = packBuilt(root, top);
  const tarball = join(top, packed.filename);
  return {
    folder: await installTarball(tarball, top),
    tarball,
    files: packed.files.map(({ path }) => path),
    tarballBytes: packed.size,
    [Symbol.asyncDispose]: () => rm(top, { recursive: true, force: true }),
  };
}

/** Installs a tarball of the package into an empty folder inside of `top`, and returns that folder. npm is as above. */
export async function installTarball(tarball: string, top: string): Promise<string> {
  const folder = join(top, "empty");
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await npm(["install", "--no-audit", "--no-fund", tarball], folder, top);
  return folder;
}

async function npm(args: readonly string[], cwd: string, top: string): Promise<string> {
  const { stdout } = await run("npm", [...args, "--offline", "--cache", join(top, "cache")], { cwd });
  return stdout;
}
