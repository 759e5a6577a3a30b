// Compiles src to dist with the TypeScript of this folder; a no-op where it is not installed (npm i --omit=dev in the image).
import { spawnSync } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = `${root}node_modules/typescript/bin/tsc`;

function build() {
  // Beside dist first: a program that runs from dist meanwhile never finds half of it, and a failed build leaves it.
  const fresh = `${root}dist.${process.pid}`;
  try {
    const options = [tsc, "-p", "tsconfig.build.json", "--outDir", fresh];
    const { status } = spawnSync(process.execPath, options, { cwd: root, stdio: "inherit" });
    if (status !== 0) return status ?? 1;
    rmSync(`${root}dist`, { recursive: true, force: true });
    renameSync(fresh, `${root}dist`);
    return 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

if (existsSync(tsc) && existsSync(`${root}src`)) process.exitCode = build();
