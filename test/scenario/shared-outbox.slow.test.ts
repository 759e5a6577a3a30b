import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Notification } from "../../src/alerting/notify/notification.ts";
import { createOutbox, type Outbox, type OutboxOptions } from "../../src/alerting/deliver/outbox.ts";
import type { DeliveryOutcome } from "../../src/alerting/deliver/receiver.ts";
import { testNotification } from "../../src/alerting/notify/test-notification.ts";
import { createSilentLogger } from "../../src/base/logger.ts";
import { hourMs, minuteMs, secondMs } from "../../src/base/time.ts";
import type { Store } from "../../src/store/store.ts";
import { openTemporaryStore } from "../support/store/temporary.ts";
import { createVirtualClock, type VirtualClock } from "../support/virtual-clock.ts";

const startMs = Date.parse("2026-11-02T08:00:00.000Z");
const accepted: DeliveryOutcome = { kind: "accepted", detail: "HTTP 200" };
const timeoutMs = 10 * secondMs;
const placesOfAReceiver = 4;

type Answer = (notification: Notification, signal: AbortSignal) => Promise<DeliveryOutcome>;

let clock: VirtualClock;
let store: Store;
let close: () => Promise<void>;
let outboxes: Outbox[];
let attempts: string[];
/** What the receiver does with a notification; a test changes it at will. */
let answer: Answer;

const quick: Answer = async () => {
  await clock.sleep(1);
  return accepted;
};
const hanging: Answer = async (_notification, signal) => {
  await clock.sleep(hourMs, signal);
  return { kind: "retry", error: "aborted", retryAfterMs: null };
};

function startOutbox(owner: string, over: Partial<OutboxOptions> = {}, deliver: Answer | null = null): Outbox {
  const outbox = createOutbox({
    store,
    clock,
    random: () => 1,
    logger: createSilentLogger(),
    metrics: { attemptBegan: () => () => undefined, notificationAttempt: () => undefined },
    owner,
    receivers: [
      {
        receiver: {
          name: "ops",
          type: "fake",
          deliver: async (notification, { signal }) => {
            attempts.push(notification.id);
            return (deliver ?? answer)(notification, signal);
          },
        },
        timeoutMs,
        maxAgeMs: 24 * hourMs,
        rateLimit: null,
      },
    ],
    resend: () => Promise.resolve(null),
    ...over,
  });
  outbox.start();
  outboxes.push(outbox);
  return outbox;
}

function enqueue(ids: readonly string[], subjectOf = (id: string): string => id): Promise<void> {
  const nowMs = clock.nowMs();
  return store.outbox.enqueueAll(
    ids.map((id) => ({
      id,
      receiver: "ops",
      createdAtMs: nowMs,
      notBeforeMs: nowMs,
      subjects: [subjectOf(id)],
      payload: JSON.stringify(testNotification({ id, receiver: "ops", nowMs, externalUrl: null })),
    })),
  );
}

const backlog = Array.from({ length: 400 }, (_, index) => `n${index}`);

beforeEach(async () => {
  clock = createVirtualClock({ startMs });
  ({ store, close } = await openTemporaryStore(clock));
  outboxes = [];
  attempts = [];
  answer = quick;
});
afterEach(async () => {
  const stopped = Promise.all(outboxes.map((outbox) => outbox.stop(0)));
  await clock.advance(minuteMs);
  await stopped;
  clock.assertIdle();
  await close();
});

describe("a process that crashes", () => {
  it("leaves its deliveries to another, which repeats only what was begun, once the leases have run out", async () => {
    let isKilled = false;
    const dying: OutboxOptions["store"] = {
      outbox: store.outbox,
      transaction: (work) => (isKilled ? new Promise(() => undefined) : store.transaction(work)),
    };
    await enqueue(backlog);
    startOutbox("crashed", { store: dying }, (notification, signal) =>
      (isKilled ? hanging : quick)(notification, signal),
    );
    await clock.advanceUntil(() => attempts.length > 3 * placesOfAReceiver, secondMs);
    isKilled = true;
    outboxes.pop()?.wake();
    await clock.settle();
    const unrecorded = (await store.outbox.list()).filter(({ id }) => attempts.includes(id));

    startOutbox("next");
    await clock.advance(timeoutMs + 4 * secondMs);
    expect(await store.outbox.list()).not.toEqual([]);
    await clock.advance(5 * secondMs);

    expect(await store.outbox.list()).toEqual([]);
    expect(new Set(attempts)).toEqual(new Set(backlog));
    const repeated = attempts.filter((id, index) => attempts.indexOf(id) !== index);
    expect(unrecorded.length).toBeLessThanOrEqual(2 * placesOfAReceiver);
    expect(repeated.length).toBeLessThanOrEqual(unrecorded.length);
  });
});

describe("the order of an alert's notifications", () => {
  it("is kept by two processes, with attempts that fail", async () => {
    let world = 0;
    const property = fc.asyncProperty(
      fc.array(fc.record({ alert: fc.nat(5), tookMs: fc.integer({ min: 1, max: 40 }), fails: fc.nat(2) }), {
        minLength: 20,
        maxLength: 60,
      }),
      async (notifications) => {
        const prefix = `w${world++}`;
        const ids = notifications.map((_, index) => `${prefix}-${index}`);
        const failures = new Map(ids.map((id, index) => [id, notifications[index]?.fails ?? 0]));
        const received: string[] = [];
        answer = async ({ id }) => {
          await clock.sleep(notifications[ids.indexOf(id)]?.tookMs ?? 1);
          const left = failures.get(id) ?? 0;
          failures.set(id, left - 1);
          if (left > 0) return { kind: "retry", error: "HTTP 503", retryAfterMs: null };
          received.push(id);
          return accepted;
        };
        await enqueue(ids, (id) => `alert-${notifications[ids.indexOf(id)]?.alert ?? 0}`);
        for (const outbox of outboxes) outbox.wake();
        await clock.advanceUntil(async () => (await store.outbox.list()).length === 0, hourMs);

        for (const alert of new Set(notifications.map((one) => one.alert))) {
          const ofAlert = (id: string): boolean => notifications[ids.indexOf(id)]?.alert === alert;
          expect(received.filter(ofAlert)).toEqual(ids.filter(ofAlert));
        }
      },
    );
    startOutbox("one");
    startOutbox("two");

    await fc.assert(property, { numRuns: 8 });
  });
});
