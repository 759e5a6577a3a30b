import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Tests of the built program run what `src` says now, not what an earlier build said. */
export function setup(): void {
  if (process.env["FLATLINE_SKIP_BUILD"] === "1") return;
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  // `npx vitest` is a run of npx, too: the build would take it for the first `npx flatline` of a clone and do nothing.
  const { npm_command: _npx, ...env } = process.env;
  const { status } = spawnSync(process.execPath, ["scripts/build.js"], { cwd: root, stdio: "inherit", env });
  if (status !== 0) throw new Error("the build failed");
}
