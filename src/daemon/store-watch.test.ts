import { expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import type { StoreProblem } from "../store/store.ts";
import { createStoreWatch } from "./store-watch.ts";

it("says within 3 s that statements have failed, and when a problem comes and goes", async () => {
  const clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 22) });
  const said: string[] = [];
  let failures = 0;
  let problem: StoreProblem | null = null;
  const watch = createStoreWatch({
    store: { isRemote: false, nowMs: async () => 0, failures: () => failures, problem: async () => problem },
    clock,
    logger: createSilentLogger(),
    onLook: async () => undefined,
    onProblem: () => said.push(`problem ${watch.problem()?.kind ?? "none"}`),
    onFailed: () => said.push("failed"),
  });
  watch.start();
  await clock.advance(3 * secondMs);
  expect(said).toEqual([]);

  [failures, problem] = [1, { kind: "failing", place: "", message: "" }];
  await clock.advance(6 * secondMs);
  problem = null;
  await clock.advance(3 * secondMs);
  await watch.stop();

  expect(said).toEqual(["problem failing", "failed", "problem none"]);
});
