import { afterEach, describe, expect, it } from "vitest";

import { engineNamed, type OpenedStore } from "../../test/support/store/engines.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../base/logger.ts";
import { createSystemClock, hourMs, minuteMs } from "../base/time.ts";
import { startSharedClock, type SharedClock } from "./shared-clock.ts";

const logger = createSilentLogger();
const [sqlite, postgres] = [engineNamed("SQLite"), engineNamed("PostgreSQL")];
let opened: OpenedStore | undefined;
let shared: SharedClock | undefined;

afterEach(async () => {
  await shared?.stop();
  await opened?.close();
});

async function start(startMs: number, engine = postgres): Promise<{ clock: VirtualClock; shared: SharedClock }> {
  const clock = createVirtualClock({ startMs });
  opened = await engine.openTemporary(createSystemClock());
  shared = await startSharedClock({ store: opened.store, clock, logger });
  return { clock, shared };
}

const awayMs = (one: SharedClock): number => Math.abs(one.clock.nowMs() - createSystemClock().nowMs());

describe("the clock of replicas", () => {
  it.each([
    { rule: "two hours behind", skewMs: -2 * hourMs },
    { rule: "two hours ahead", skewMs: 2 * hourMs },
  ])("is the database's on a machine that is $rule", async ({ skewMs }) => {
    const { shared: one } = await start(createSystemClock().nowMs() + skewMs);

    expect(awayMs(one)).toBeLessThan(minuteMs);
  });

  it("follows when the machine's is set", async () => {
    const { clock, shared: one } = await start(createSystemClock().nowMs());
    clock.shiftWall(-hourMs);
    expect(awayMs(one)).toBeGreaterThan(hourMs / 2);

    await clock.advance(minuteMs);
    await clock.settleUntil(() => awayMs(one) < 5 * minuteMs);
  });

  it("is the machine's own beside a file", async () => {
    const startMs = Date.UTC(2026, 5, 1);
    const { shared: one } = await start(startMs, sqlite);

    expect(one.clock.nowMs()).toBe(startMs);
  });
});
