import { expect, it } from "vitest";

import { storeEngines } from "../../test/support/store/engines.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import { createStoreWatch } from "./store-watch.ts";

const startMs = Date.UTC(2026, 10, 22);
const [sqlite] = storeEngines;

it("says within 3 s that another process has changed the file, and nothing of changes of its own", async () => {
  const clock = createVirtualClock({ startMs });
  const place = await sqlite?.makePlace();
  if (place === undefined) throw new Error("no place");
  const [own, other] = [await place.open(clock), await place.open(clock)];
  let changes = 0;
  const watch = createStoreWatch({
    store: own,
    clock,
    logger: createSilentLogger(),
    onLook: async () => undefined,
    onProblem: () => undefined,
    onChanged: () => changes++,
  });
  watch.start();
  await clock.advance(secondMs);

  await own.outbox.pause({ receiver: "ops", nowMs: startMs, untilMs: startMs + 1 });
  await clock.advance(5 * secondMs);
  const afterOwn = changes;
  await other.outbox.endPause("ops", startMs);
  await clock.advance(3 * secondMs);
  await clock.settleUntil(() => changes > 0);
  await watch.stop();
  await place.remove();

  expect([afterOwn, changes]).toEqual([0, 1]);
});
