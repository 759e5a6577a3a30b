import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../../..");
const folder = import.meta.dirname;
const patches = readdirSync(folder).filter((file) => file.endsWith(".patch"));

it("has mutants for the simulation", () => {
  expect(patches.length).toBeGreaterThanOrEqual(15);
});

// One that does not is to be written again: `npm run simulate:mutants` needs it.
it.each(patches)("has sources that the mutant %s applies to", (patch) => {
  expect(() =>
    execFileSync("git", ["apply", "--check", join(folder, patch)], { cwd: root, stdio: "pipe" }),
  ).not.toThrow();
});
