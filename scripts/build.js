// Compiles src to dist with the TypeScript of this folder; a no-op where it is not installed (npm i --omit=dev in the image).
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = `${root}node_modules/typescript/bin/tsc`;
if (existsSync(tsc) && existsSync(`${root}src`)) {
  rmSync(`${root}dist`, { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  process.exitCode = status ?? 1;
}
