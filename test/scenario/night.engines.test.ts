import { describe, expect, it } from "vitest";

import { nights } from "../support/nights.ts";
import { storeEngines } from "../support/store/engines.ts";

describe.each(storeEngines)("on $engine,", ({ engine }) => {
  // Thousands of requests over real sockets: also on a machine that is busy with other things.
  it.each(nights)("$what", { timeout: 120_000 }, async ({ name, open, steps }) => {
    await using night = await open({ engine });
    for (const step of steps) await step(night);

    await expect(await night.told()).toMatchFileSnapshot(`nights/${name}.txt`);
    expect(await night.world.store.incidents.open()).toEqual([]);
  });
});
