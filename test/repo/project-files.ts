import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A TypeScript file of the project: its path from the root, and its text. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** Reads every TypeScript file below a folder of the project; those of src without tests when `tests` is false. */
export function readFiles(folder: string, { tests = true }: { readonly tests?: boolean } = {}): ProjectFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules") && (tests || !name.endsWith(".test.ts")))
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), "utf8") }));
}

/** Reads a file of the project by its path from the root. */
export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
