import { expect, it } from "vitest";

import { live, mutants, runTest, withMutant } from "./mutants.ts";

// A change of the program or of the world moves a mutant from one life to another; most are found in the first two.
const lives = 12;
const days = 2;

it.each(mutants)(
  "$name is found: it breaks that $promise",
  async ({ name, test }) => {
    const isFound = await withMutant(name, async (folder) => {
      if (test !== undefined) return !(await runTest(folder, test));
      for (let seed = 0; seed < lives; seed++) if ((await live(folder, { seed, days })).isViolated) return true;
      return false;
    });

    expect(isFound).toBe(true);
  },
  900_000,
);
