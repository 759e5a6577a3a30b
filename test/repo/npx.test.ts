import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

// npx prepares the clone again when it is first asked for its own command; a daemon may be running from dist.
it("the first npx in a clone compiles nothing and takes nothing away", () => {
  const before = statSync(`${root}dist`);

  const { status } = spawnSync(process.execPath, [`${root}scripts/build.js`], {
    env: { ...process.env, npm_command: "exec" },
  });

  const after = statSync(`${root}dist`);
  expect({ status, ino: after.ino, atMs: after.mtimeMs }).toEqual({ status: 0, ino: before.ino, atMs: before.mtimeMs });
});
