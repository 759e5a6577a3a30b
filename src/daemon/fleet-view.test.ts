import { EventEmitter } from "node:events";

import { expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import type { StoreProblem } from "../store/store.ts";
import type { Ground } from "./ground.ts";
import { createFleetView } from "./fleet-view.ts";

it("says within 3 s that statements have failed, and when a problem comes and goes", async () => {
  const clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 22) });
  const said: string[] = [];
  let failures = 0;
  let problem: StoreProblem | null = null;
  const store = { isRemote: false, failures: () => failures, problem: async () => problem };
  const bus = new EventEmitter();
  const ground = { store, clock, logger: createSilentLogger(), bus } as unknown as Ground;
  const watch = createFleetView(ground, { all: () => [], of: () => null });
  bus.on("stored", () => said.push(`problem ${watch.storeProblem() ?? "none"}`));
  bus.on("changed", () => said.push("failed"));
  watch.start();
  await clock.advance(3 * secondMs);
  expect(said).toEqual([]);

  [failures, problem] = [1, { kind: "failing", place: "", message: "failing" }];
  await clock.advance(6 * secondMs);
  problem = null;
  await clock.advance(3 * secondMs);
  await watch.stop();

  expect(said).toEqual(["problem failing", "failed", "problem none"]);
});
