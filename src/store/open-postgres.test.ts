import { describe, expect, it } from "vitest";

import { storeEngines } from "../../test/support/store-engines.ts";
import { createSystemClock } from "../base/time.ts";

describe.each(storeEngines)("smoke $engine", ({ openTemporary }) => {
  it("opens", async () => {
    const { store, close } = await openTemporary(createSystemClock());
    expect(await store.meta.getOrSet("a", "b")).toBe("b");
    expect(await store.bytes()).toBeGreaterThan(0);
    await close();
  });
});
