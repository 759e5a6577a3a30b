import { expect, it } from "vitest";

import { live, mutants, runTest, withMutant } from "./mutants.ts";

it.each(mutants)(
  "$name is found: it breaks that $promise",
  async ({ name, foundBy }) => {
    const isFound = await withMutant(name, async (folder) =>
      "test" in foundBy ? !(await runTest(folder, foundBy.test)) : (await live(folder, foundBy)).isViolated,
    );

    expect(isFound).toBe(true);
  },
  900_000,
);
