import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../package.json", import.meta.url));

/** The exit code of a benchmark that could not run because a program is not installed. */
export const missingExitCode = 77;

/** The path of a program of a Debian package, or null. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/bin"];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** The command that installs a Debian package, or null when its program is here. */
export function missingProgram(program: string, debianPackage: string): string | null {
  return findProgram(program) === null ? `apt-get install ${debianPackage}` : null;
}

/** The command that installs the packages of bench/package.json, or null when this one is there. */
export function missingPackage(name: string): string | null {
  return packageFolder(name) === null ? "npm install --no-package-lock --prefix bench" : null;
}

/** The version of a package of bench/package.json or package.json. */
export function packageVersion(name: string): string {
  const folder = packageFolder(name);
  return folder === null ? "missing" : (require(join(folder, "package.json")) as { version: string }).version;
}

/** A package that only benchmarks need; its types are not there when it isn't, so say what you use of it. */
export async function importPeer<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(require.resolve(name)).href)) as T;
}

function packageFolder(name: string): string | null {
  const folders = require.resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name)).find((folder) => existsSync(join(folder, "package.json"))) ?? null;
}
