import { describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createSystemClock } from "../../base/time.ts";

const nowMs = Date.UTC(2026, 5, 1);

describe.each(storeEngines)("what operators tell, on $engine,", ({ useStore }) => {
  const opened = useStore(createSystemClock);

  it("is markers of a time, of all organizations or of one", async () => {
    const { markers } = opened.store;
    const all = { id: "a", atMs: nowMs, text: "rollout", slug: null, createdBy: null, note: null, createdAtMs: nowMs };
    const one = { ...all, id: "b", atMs: nowMs + 1, slug: "acme", createdBy: "kim" };
    await markers.add(one);
    await markers.add(all);

    expect(await markers.remove("a")).toBe(true);
    expect(await markers.remove("a")).toBe(false);
    await markers.prune(nowMs);

    expect(await markers.between({ fromMs: nowMs, toMs: nowMs + 1, slug: "acme" })).toEqual([one]);
  });
});
