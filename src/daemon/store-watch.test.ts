import { expect, it } from "vitest";

import { engineNamed } from "../../test/support/store/engines.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import { createStoreWatch } from "./store-watch.ts";

const startMs = Date.UTC(2026, 10, 22);

it("says within 3 s that another process has changed the file, and nothing of changes of its own", async () => {
  const clock = createVirtualClock({ startMs });
  const place = await engineNamed("SQLite").makePlace();
  const [own, other] = [await place.open(clock), await place.open(clock)];
  let changes = 0;
  let looks = 0;
  const version = async (): Promise<number> => {
    const found = await own.version();
    looks++;
    return found;
  };
  // Looking at the files takes real time, in which no virtual time passes.
  const lookAgain = async (): Promise<void> => {
    const before = looks;
    await clock.advance(3 * secondMs);
    await clock.settleUntil(() => looks > before);
  };
  const watch = createStoreWatch({
    store: { ...own, version },
    clock,
    logger: createSilentLogger(),
    onLook: async () => undefined,
    onProblem: () => undefined,
    onChanged: () => changes++,
  });
  watch.start();
  await clock.settleUntil(() => looks > 0);

  await own.outbox.pause({ receiver: "ops", untilMs: startMs + 1 });
  await lookAgain();
  await lookAgain();
  const afterOwn = changes;
  await other.outbox.endPause("ops", startMs);
  await lookAgain();
  await watch.stop();
  await place.remove();

  expect([afterOwn, changes]).toEqual([0, 1]);
});
