import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";

import { expect, it } from "vitest";

import { mutants, patchOf, root } from "./mutants.ts";

it("has a patch for each mutant, and no other", () => {
  const patches = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".patch"));

  expect(patches.toSorted()).toEqual(mutants.map(({ name }) => `${name}.patch`).toSorted());
});

// One that does not is to be written again: what it breaks is still to be found.
it.each(mutants)("has sources that the mutant $name applies to", ({ name }) => {
  expect(() => execFileSync("git", ["apply", "--check", patchOf(name)], { cwd: root, stdio: "pipe" })).not.toThrow();
});
