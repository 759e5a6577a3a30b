import { describe, expect, it } from "vitest";

import { storeEngines } from "../../test/support/store/engines.ts";
import { createSystemClock, dayMs } from "../base/time.ts";
import { isGateUsed, noteGateAsked } from "./gate-use.ts";

const nowMs = Date.UTC(2026, 5, 1);

describe.each(storeEngines)("whether anybody goes by gates, on $engine,", ({ useStore }) => {
  const opened = useStore(createSystemClock);

  const asked = (atMs: number, isGateConfigured = false): Promise<boolean> =>
    isGateUsed(opened.store, { isGateConfigured }, atMs);

  it("is so for 30 days after a gate was asked for, and where the configuration has gates", async () => {
    expect([await asked(nowMs), await asked(nowMs, true)]).toEqual([false, true]);

    await noteGateAsked(opened.store, nowMs);
    await noteGateAsked(opened.store, nowMs + dayMs);

    expect([await asked(nowMs + 31 * dayMs - 1), await asked(nowMs + 31 * dayMs)]).toEqual([true, false]);
  });
});
