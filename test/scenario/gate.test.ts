import { expect, it } from "vitest";

import { acknowledgeAlert } from "../../src/alerting/acknowledge.ts";
import type { GatePolicy } from "../../src/alerting/decide/gate.ts";
import type { AlertingSettings } from "../../src/alerting/settings.ts";
import { createSilentLogger } from "../../src/base/logger.ts";
import { hourMs, minuteMs } from "../../src/base/time.ts";
import { actor } from "../../src/contract/actor.ts";
import { createGateReading } from "../../src/web/read/gate.ts";
import type { Config } from "../../src/config/config.ts";
import type { RunningChecks } from "../../src/web/read/running.ts";
import { createAlertingWorld, type AlertingWorld } from "../support/alerting-world.ts";

const policy: GatePolicy = { releaseOn: ["acknowledged"], whenUnknown: "allow" };
const settings = { receivers: [], gateOf: () => policy } as unknown as AlertingSettings;

type Step = (world: AlertingWorld) => unknown;
const run =
  (severity: "warn" | "fail"): Step =>
  (world) =>
    world.run("acme", severity);
const setBack: Step = ({ clock }) => clock.shiftWall(-hourMs);
const acknowledge: Step = async ({ store, clock }) => {
  const [alert] = await store.alerts.live("dead-asset-spike", "acme");
  const act = { alertId: alert?.id ?? "", author: actor("kim", "token"), comment: null, mayOpenGate: true };
  await acknowledgeAlert({ store, settings, nowMs: clock.nowMs() }, act);
};

async function decisionAfter(steps: readonly Step[]): Promise<string | undefined> {
  const world = await createAlertingWorld({ settings: { gateOf: () => policy } });
  try {
    for (const step of steps) {
      await world.advance(minuteMs);
      await step(world);
    }
    const organizations = [{ slug: "acme", thresholds: { windowHours: 24 } }];
    const port = createGateReading({
      store: world.store,
      // Nothing but failures decides here.
      checks: {
        of: () =>
          ({
            severity: "ok",
            lastReport: { kind: "result" },
            lastRunAtMs: world.clock.nowMs(),
            staleAfterMs: minuteMs,
          }) as never,
      } as unknown as RunningChecks,
      config: () => ({ organizations }) as unknown as Config,
      settings: () => settings,
      clock: world.clock,
      logger: createSilentLogger(),
      storeProblem: () => null,
      onAct: () => undefined,
    });
    return (await port.look("acme"))?.decision;
  } finally {
    await world.close();
  }
}

it.each([
  { rule: "an acknowledgement opens the gate", steps: [run("fail"), setBack, acknowledge], decision: "allow" },
  {
    rule: "a later fail holds it again",
    steps: [run("fail"), acknowledge, run("warn"), setBack, run("fail")],
    decision: "hold",
  },
])("after the clock was set back: $rule", async ({ steps, decision }) => {
  expect(await decisionAfter(steps)).toBe(decision);
});
