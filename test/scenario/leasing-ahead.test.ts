import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Notification } from "../../src/alerting/notify/notification.ts";
import { createOutbox, type Outbox } from "../../src/alerting/deliver/outbox.ts";
import type { DeliveryOutcome } from "../../src/alerting/deliver/receiver.ts";
import { testNotification } from "../../src/alerting/notify/test-notification.ts";
import { createSilentLogger } from "../../src/base/logger.ts";
import { hourMs, minuteMs, secondMs } from "../../src/base/time.ts";
import type { OutboxEntry, OutboxStore } from "../../src/store/alerts/outbox.ts";
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

function startOutbox(owner: string, over: Partial<OutboxStore> = {}, deliver: Answer | null = null): Outbox {
  const outbox = createOutbox({
    store: { ...store.outbox, ...over },
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

async function inState(state: OutboxEntry["state"]): Promise<readonly OutboxEntry[]> {
  return (await store.outbox.list()).filter((entry) => entry.state === state);
}

const leased = async (): Promise<number> => (await inState("leased")).length;

/** Delivers until more is leased than is under way. */
async function leaseAhead(): Promise<void> {
  await clock.advanceUntil(async () => (await leased()) > 3 * placesOfAReceiver, secondMs);
}

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

describe("what is leased ahead", () => {
  it("is as much as a quick receiver takes, and still four are under way at most", async () => {
    let underWay = 0;
    let most = 0;
    answer = async () => {
      most = Math.max(most, ++underWay);
      await clock.sleep(1);
      underWay--;
      return accepted;
    };
    await enqueue(backlog);
    startOutbox("one");
    await leaseAhead();
    await clock.advance(secondMs);

    expect(most).toBe(placesOfAReceiver);
    expect(attempts.toSorted()).toEqual(backlog.toSorted());
    expect(await store.outbox.list()).toEqual([]);
  });

  it("is next to nothing for a receiver that takes seconds for each", async () => {
    answer = async () => {
      await clock.sleep(5 * secondMs);
      return accepted;
    };
    await enqueue(backlog);
    startOutbox("one");
    let most = 0;
    // Between the answers: what they end is on its way into the store as they come.
    await clock.advance(secondMs / 2);
    for (let second = 0; second < 30; second++) {
      await clock.advance(secondMs);
      most = Math.max(most, await leased());
    }

    expect(attempts.length).toBeGreaterThan(2 * placesOfAReceiver);
    expect(most).toBeLessThanOrEqual(placesOfAReceiver + 2);
  });

  it("is given back within seconds, as never attempted, when the receiver begins to hang", async () => {
    await enqueue(backlog);
    startOutbox("one");
    await leaseAhead();
    answer = hanging;
    await clock.advance(4 * secondMs);

    expect(await leased()).toBe(placesOfAReceiver);
    const queued = await inState("queued");
    expect(queued.length).toBeGreaterThan(100);
    expect(queued.every((entry) => entry.attempts === 0)).toBe(true);
  });

  it("is given back at once when the receiver asks for a pause, and goes out after it", async () => {
    await enqueue(backlog);
    startOutbox("one");
    await leaseAhead();
    answer = () => Promise.resolve({ kind: "retry", error: "HTTP 429", retryAfterMs: 30 * secondMs });
    await clock.advance(100);
    answer = quick;
    const before = attempts.length;

    expect(await leased()).toBe(0);
    await clock.advance(29 * secondMs);
    expect(attempts).toHaveLength(before);
    await clock.advance(5 * secondMs);
    expect(await store.outbox.list()).toEqual([]);
  });

  it("is given back before the drain when the process stops", async () => {
    await enqueue(backlog);
    const outbox = startOutbox("one");
    await leaseAhead();
    answer = hanging;
    await clock.advance(5);
    const stopped = outbox.stop(5 * secondMs);
    await clock.advance(100);

    expect(await leased()).toBe(placesOfAReceiver);
    expect((await inState("queued")).every((entry) => entry.attempts === 0)).toBe(true);
    await clock.advance(6 * secondMs);
    await stopped;
    expect(await leased()).toBe(0);
  });

  it("is dropped when it was discarded meanwhile, unless it is under way", async () => {
    await enqueue(backlog);
    startOutbox("one");
    await leaseAhead();
    answer = hanging;
    await clock.advance(5);
    const waiting = (await store.outbox.list()).filter(({ id }) => !attempts.includes(id));
    for (const { id } of waiting) await store.outbox.discard(id);
    const before = attempts.length;
    await clock.advance(5 * secondMs);
    answer = quick;
    await clock.advance(minuteMs);

    expect(new Set(attempts.slice(before)).size).toBeLessThanOrEqual(placesOfAReceiver);
    expect(await store.outbox.list()).toEqual([]);
  });

  it("by a process that crashed is delivered by another when the lease has run out, and only what was begun twice", async () => {
    let isKilled = false;
    const stuck = new Promise<never>(() => undefined);
    const dying = Object.fromEntries(
      Object.entries(store.outbox).map(([name, call]) => [
        name,
        (...args: readonly unknown[]) =>
          isKilled ? stuck : (call as (...args: readonly unknown[]) => unknown)(...args),
      ]),
    ) as unknown as OutboxStore;
    await enqueue(backlog);
    startOutbox("crashed", dying, (notification, signal) => (isKilled ? hanging : quick)(notification, signal));
    await leaseAhead();
    isKilled = true;
    outboxes.pop()?.wake();
    await clock.settle();
    const unrecorded = new Set((await store.outbox.list()).map(({ id }) => id).filter((id) => attempts.includes(id)));

    startOutbox("next");
    await clock.advance(timeoutMs + 4 * secondMs);
    expect(await store.outbox.list()).not.toEqual([]);
    await clock.advance(5 * secondMs);

    expect(await store.outbox.list()).toEqual([]);
    expect(new Set(attempts)).toEqual(new Set(backlog));
    const repeated = attempts.filter((id, index) => attempts.indexOf(id) !== index);
    // Begun as it died: it is not known here which of them a real receiver would have seen.
    expect(repeated.length).toBeLessThanOrEqual(unrecorded.size + placesOfAReceiver);
  });
});

describe("the order of an alert's notifications", () => {
  it("is kept by two processes that lease ahead, with attempts that fail", async () => {
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
