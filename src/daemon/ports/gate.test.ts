import { afterEach, beforeEach, expect, it } from "vitest";

import { createEventWorld, type EventWorld } from "../../../test/support/event-store.ts";
import { createRunProcess } from "../../../test/support/run-process.ts";
import { resultReport } from "../../../test/support/reports.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { actor } from "../../contract/actor.ts";
import { createSilentLogger } from "../../base/logger.ts";
import { dayMs, minuteMs } from "../../base/time.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import { createGatePort } from "./gate.ts";
import type { Runtime } from "../runtime.ts";

const startMs = Date.UTC(2026, 0, 15, 12);
const key = { check: "dead-asset-spike", slug: "acme" } as const;

const alert: AlertState = {
  id: "a",
  ...key,
  kind: "verdict",
  state: "firing",
  severity: "fail",
  startsAtMs: startMs,
  firingAtMs: startMs,
  okSinceMs: null,
  unknownRuns: 0,
  peak: { severity: "fail", currentCount: 90, atMs: startMs },
  acknowledgement: null,
  reason: "not_ok",
};

const gate = { releaseOn: ["acknowledged", "resolved"], whenUnknown: "allow" };
const applied = {
  config: { organizations: [{ slug: "acme", gate }], storage: { retentionMs: 90 * dayMs } },
  targetByKey: new Map(),
};
const runtime = { current: () => applied } as unknown as Runtime;

let world: EventWorld;
beforeEach(async () => {
  world = await createEventWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

it.each([
  { rule: "before the failure was known does not count", releasedMinute: 4, decision: "hold", reason: "fail_firing" },
  { rule: "after it was known counts", releasedMinute: 6, decision: "allow", reason: "unknown" },
])("a release $rule, though the run counts from when it was due", async ({ releasedMinute, decision, reason }) => {
  const { store } = world;
  const clock = createVirtualClock({ startMs: startMs + releasedMinute * minuteMs });
  const own = await createRunProcess(store, clock);
  // No run is on the board here.
  const states = { of: () => null, staleAfterMs: () => 0 };
  const port = createGatePort({ store, states, history: own.history, runtime, clock, logger: createSilentLogger() });
  await port.release("acme", actor("kim", "token"), "ten opened by hand");

  // Due at noon, late, and over five minutes after it.
  await store.alerts.save(alert);
  await store.alerts.appendHistory({
    alertId: "a",
    ...key,
    kind: "verdict",
    atMs: startMs,
    event: "firing",
    severity: "fail",
    reason: "not_ok",
  });
  await own.record(resultReport({ ...key, severity: "fail", startedAtMs: startMs + 5 * minuteMs }));
  await clock.advance(10 * minuteMs);

  // With nothing on hold, nothing is known.
  expect(await port.look("acme")).toMatchObject({ decision, reason });
});
