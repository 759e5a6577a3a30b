import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

const engine = fileURLToPath(new URL("../support/embedded-postgres.ts", import.meta.url));

it.each([0, 1, 3])("a run that has PostgreSQL for its tests ends with its own exit code, %i", (exitCode) => {
  const script = `await import(${JSON.stringify(engine)}); process.exitCode = ${exitCode};`;
  const run = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });

  expect(run.stderr).toBe("");
  expect(run.status).toBe(exitCode);
});
