import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What `npm pack --json` says of a package. */
export interface PackedPackage {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/**
 * Packs what was built last into the folder `out`, as `npm pack` does after a build: in a copy, whose manifest may
 * change while others read that of the clone, and in which there is nothing to build from.
 * @throws Error with what npm says
 */
export function packBuilt(root: string, out: string): PackedPackage {
  const copy = mkdtempSync(join(tmpdir(), "flatline-pack-"));
  try {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly files: string[] };
    const beside = ["package.json", "package-lock.json", "README.md", "LICENSE", "scripts", "dist/libraries.json"];
    for (const path of [...beside, ...manifest.files]) cpSync(join(root, path), join(copy, path), { recursive: true });
    const args = ["pack", "--foreground-scripts=false", "--offline", "--json", "--pack-destination", out];
    const { status, stdout, stderr } = spawnSync("npm", args, { cwd: copy, encoding: "utf8" });
    const [packed] = status === 0 ? (JSON.parse(stdout) as PackedPackage[]) : [];
    if (packed === undefined) throw new Error(`npm pack failed: ${stderr}`);
    return packed;
  } finally {
    rmSync(copy, { recursive: true });
  }
}
