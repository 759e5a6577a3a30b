// One repetition of flatline's side: from the first notification enqueued to the last one acknowledged.
import { join } from "node:path";

import { createOutbox } from "../../src/alerting/deliver/outbox.ts";
import { createSilentLogger } from "../../src/base/logger.ts";
import { openStore } from "../../src/store/open.ts";
import { clock, createWebhook, enqueuedAtOnce, notificationOf, readWork, receivers, sayDone } from "./work.ts";

const { url, notifications, target } = readWork();
const store = await openStore({ path: join(target, "flatline.db"), clock });
let delivered = 0;
const all = Promise.withResolvers<void>();
const outbox = createOutbox({
  store,
  clock,
  random: Math.random,
  logger: createSilentLogger(),
  metrics: {
    attemptBegan: () => () => undefined,
    notificationAttempt: (_receiver, outcome) => {
      if (outcome !== "delivered") all.reject(new Error(`a notification was ${outcome}`));
      if (++delivered === notifications) all.resolve();
    },
  },
  owner: "benchmark",
  receivers: receivers.map((name) => ({
    receiver: createWebhook(name, url),
    timeoutMs: 10_000,
    maxAgeMs: 60_000,
    rateLimit: null,
  })),
  resend: () => Promise.resolve(null),
});
outbox.start();
const startedAtMs = clock.monotonicMs();
for (let start = 0; start < notifications; start += enqueuedAtOnce) {
  const formed = Array.from({ length: Math.min(enqueuedAtOnce, notifications - start) }, (_, index) =>
    notificationOf(start + index),
  );
  const nowMs = clock.nowMs();
  const times = { createdAtMs: nowMs, notBeforeMs: nowMs };
  await store.transaction((parts) =>
    parts.outbox.enqueueAll(
      formed.map((notification) => {
        const { id, receiver } = notification;
        return { id, receiver, ...times, subjects: [id], payload: JSON.stringify(notification) };
      }),
    ),
  );
  outbox.wake();
}
await all.promise;
sayDone(startedAtMs);
await outbox.stop(0);
await store.close();
process.exit();
