import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { OutboxReceiver } from "../../src/alerting/deliver/attempt.ts";
import type { Notification } from "../../src/alerting/notify/notification.ts";
import { createOutbox, type Outbox, type OutboxOptions } from "../../src/alerting/deliver/outbox.ts";
import { retryEntry } from "../../src/alerting/deliver/outbox-acts.ts";
import type { DeliveryOutcome, Receiver } from "../../src/alerting/deliver/receiver.ts";
import { testNotification } from "../../src/alerting/notify/test-notification.ts";
import { hourMs, minuteMs, secondMs } from "../../src/base/time.ts";
import { actor } from "../../src/contract/actor.ts";
import type { OutboxStore } from "../../src/store/alerts/outbox.ts";
import type { Store } from "../../src/store/store.ts";
import { createRecordingLogger, type LogLine } from "../support/scheduling.ts";
import { engineNamed } from "../support/store/engines.ts";
import { createVirtualClock, type VirtualClock } from "../support/virtual-clock.ts";

const startMs = Date.parse("2026-11-02T08:00:00.000Z");
const accepted: DeliveryOutcome = { kind: "accepted", detail: "HTTP 200" };
const tenYears = { kind: "retry", error: "HTTP 429", retryAfterMs: 3_650 * 24 * hourMs } as const;
const rejected: DeliveryOutcome = { kind: "rejected", error: "HTTP 400" };
const tooLarge: DeliveryOutcome = { kind: "rejected", error: "HTTP 413", isTooLarge: true };
const down: DeliveryOutcome = { kind: "retry", error: "HTTP 503", retryAfterMs: null };

interface Attempt {
  readonly receiver: string;
  readonly id: string;
  readonly atMs: number;
}

let clock: VirtualClock;
let store: Store;
let close: () => Promise<void>;
let attempts: Attempt[];
let counted: string[];
let timedOut: string[];
let logged: LogLine[];
let outbox: Outbox;

type Answer = (notification: Notification, signal: AbortSignal) => DeliveryOutcome | Promise<DeliveryOutcome>;

function receiver(
  name: string,
  answer: Answer,
  changes: Partial<OutboxReceiver> & Pick<Receiver, "resendIntervalMs" | "recipients" | "answerMs"> = {},
): OutboxReceiver {
  const { resendIntervalMs, recipients, answerMs, ...settings } = changes;
  return {
    receiver: {
      name,
      type: "fake",
      ...(resendIntervalMs === undefined ? {} : { resendIntervalMs }),
      ...(recipients === undefined ? {} : { recipients }),
      ...(answerMs === undefined ? {} : { answerMs }),
      deliver: async (notification, { signal }) => {
        attempts.push({ receiver: name, id: notification.id, atMs: clock.nowMs() - startMs });
        return answer(notification, signal);
      },
    },
    timeoutMs: 10 * secondMs,
    maxAgeMs: 24 * hourMs,
    rateLimit: null,
    ...settings,
  };
}

/** Answers so the first time, and accepts from then on. */
function once(outcome: DeliveryOutcome): Answer {
  const outcomes = [outcome];
  return () => outcomes.shift() ?? accepted;
}

/** `id seconds` of each attempt. */
function shownAttempts(): string[] {
  return attempts.map(({ id, atMs }) => `${id} ${atMs / secondMs}`);
}

function open(receivers: readonly OutboxReceiver[], changes: Partial<OutboxOptions> = {}): Outbox {
  outbox = createOutbox({
    store,
    clock,
    random: () => 1,
    logger: createRecordingLogger(logged),
    metrics: {
      receiverTimedOut: (name) => timedOut.push(name),
      notificationAttempt: (name, outcome) => counted.push(`${name} ${outcome}`),
    },
    receivers,
    resend: () => Promise.resolve(null),
    ...changes,
  });
  return outbox;
}

async function enqueue(
  id: string,
  name: string,
  incident: number | null = null,
  recipient: string | null = null,
): Promise<void> {
  const nowMs = clock.nowMs();
  const payload = JSON.stringify(testNotification({ id, receiver: name, recipient, nowMs, externalUrl: null }));
  await store.outbox.enqueue([{ id, receiver: name, recipient, createdAtMs: nowMs, incident, payload }]);
}

const none = Promise.resolve(new Set<string>());

/** The store, whose outbox does otherwise within a transaction. */
function withOutbox(changes: Partial<OutboxStore>): OutboxOptions["store"] {
  return {
    outbox: store.outbox,
    transaction: (work) => store.transaction((parts) => work({ ...parts, outbox: { ...parts.outbox, ...changes } })),
  };
}

/** Lets time pass while the outbox delivers by itself. */
async function runFor(ms: number): Promise<void> {
  outbox.start();
  await clock.advance(ms);
}

beforeEach(async () => {
  clock = createVirtualClock({ startMs });
  ({ store, close } = await engineNamed("SQLite").openTemporary(clock));
  attempts = [];
  counted = [];
  timedOut = [];
  logged = [];
});
afterEach(async () => {
  const stopped = outbox.stop(0);
  await clock.advance(minuteMs);
  await stopped;
  clock.assertIdle();
  await close();
});

describe("one delivery", () => {
  it.each<[string, Answer, string, string | null, string]>([
    ["accepted: the row goes", () => accepted, "ops delivered", null, "info"],
    ["refused as too large: less of it is sent at once", once(tooLarge), "ops delivered", null, "info"],
    ["worth another attempt: it stays queued", () => down, "ops retried", "queued", "warn"],
    ["rejected: dead-lettered at once", () => rejected, "ops dead_lettered", "dead", "error"],
  ])("%s", async (_rule, answer, label, state, level) => {
    open([receiver("ops", answer)]);
    await enqueue("n1", "ops");

    const begun = await outbox.runOnce();

    expect(begun).toBe(1);
    expect(counted).toEqual([label]);
    expect((await store.outbox.list()).map((entry) => entry.state)).toEqual(state === null ? [] : [state]);
    expect(logged).toMatchObject([{ level, fields: { notification: "n1", receiver: "ops", attempts: 1 } }]);
  });

  it("gives a receiver its own notification, and a signal that aborts at its timeout, and waits no longer", async () => {
    let abortedAtMs: number | null = null;
    open([
      receiver("ops", (notification, signal) => {
        expect(notification).toMatchObject({ id: "n1", receiver: "ops" });
        signal.addEventListener("abort", () => {
          abortedAtMs = clock.nowMs() - startMs;
        });
        return new Promise(() => undefined);
      }),
    ]);
    await enqueue("n1", "ops");
    await runFor(11 * secondMs);

    expect(abortedAtMs).toBe(10 * secondMs);
    expect(timedOut).toEqual(["ops"]);
    expect(await store.outbox.list()).toMatchObject([{ state: "queued", lastError: "no answer within 10000 ms" }]);
  });

  it("tells of a receiver that throws no more than the kind of the error: its message may hold an address", async () => {
    open([
      receiver("ops", () => {
        throw new TypeError("https://hooks.example.com/very-secret");
      }),
    ]);
    await enqueue("n1", "ops");
    await outbox.runOnce();

    expect(await store.outbox.list()).toMatchObject([
      { state: "queued", lastError: "the receiver failed with TypeError" },
    ]);
    expect(JSON.stringify(logged)).not.toContain("very-secret");
  });
});

describe("retries", () => {
  it("back off from 1 s to 5 min, and give up when maxAge has passed, after a last attempt", async () => {
    open([receiver("ops", () => down, { maxAgeMs: hourMs })]);
    await enqueue("n1", "ops");
    await runFor(2 * hourMs);

    const seconds = attempts.map(({ atMs }) => atMs / secondMs);
    expect(seconds.slice(0, 11)).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811]);
    expect(seconds.at(-1)).toBe(3_600);
    expect(counted.at(-1)).toBe("ops dead_lettered");
    expect(await store.outbox.list()).toMatchObject([{ state: "dead", lastError: "HTTP 503" }]);
  });

  it.each([
    ["after 12 s", 12 * secondMs, ["n1 0"], "ops delivered"],
    ["after 9 min", 9 * minuteMs, ["n1 0"], "ops delivered"],
    ["never", null, ["n1 0", "n1 611.25"], "ops retried"],
  ])("wait for a receiver that may answer late, and does %s", async (_when, afterMs, shown, outcome) => {
    const slowly = (): Promise<DeliveryOutcome> =>
      afterMs === null ? new Promise(() => undefined) : clock.sleep(afterMs).then(() => accepted);
    open([receiver("ops", slowly, { answerMs: 10 * minuteMs })]);
    await enqueue("n1", "ops");
    const untilMs = (afterMs ?? 10.2 * minuteMs) + secondMs;
    await runFor(untilMs / 2);
    outbox.wake();
    await clock.advance(untilMs / 2);

    expect([shownAttempts(), counted[0]]).toEqual([shown, outcome]);
  });

  it.each([
    { rule: "of ten years counts for an hour", retryAfterMs: 3_650 * 24 * hourMs, maxAgeMs: 24 * hourMs },
    { rule: "beyond maxAge gives up nothing before it was tried again", retryAfterMs: hourMs, maxAgeMs: minuteMs },
  ])("keep what waits: a Retry-After $rule", async ({ retryAfterMs, maxAgeMs }) => {
    open([receiver("ops", once({ kind: "retry", error: "HTTP 429", retryAfterMs }), { maxAgeMs })]);
    await enqueue("n1", "ops");
    await runFor(5 * secondMs);
    await enqueue("n2", "ops");
    await clock.advance(2 * hourMs);

    expect(shownAttempts()).toEqual(["n1 0", "n1 3600", "n2 3600"]);
    expect(counted).toEqual(["ops retried", "ops delivered", "ops delivered"]);
  });

  it("wait for the end of a pause over a reload and a restart", async () => {
    const paused = receiver("ops", once(tenYears));
    open([paused]);
    await enqueue("n1", "ops");
    await runFor(5 * secondMs);
    await outbox.setReceivers([paused]);
    await clock.advance(5 * secondMs);
    await outbox.stop(0);

    open([paused]);
    await enqueue("n2", "ops");
    await runFor(hourMs);

    expect(shownAttempts()).toEqual(["n1 0", "n1 3600", "n2 3600"]);
  });
});

it("a retry of what is under way is refused, and is no act", async () => {
  open([]);
  await enqueue("n1", "ops");
  await store.outbox.claim([{ receiver: "ops", nowMs: clock.nowMs(), limit: 1 }]);
  const act = { id: "n1", author: actor("kim", "cli"), nowMs: clock.nowMs() };

  await expect(retryEntry(store, act)).rejects.toMatchObject({
    code: "conflict",
    message: "this notification is being delivered at this moment",
  });

  expect(await store.audit.list({ limit: 9 })).toEqual([]);
});

describe("order and isolation", () => {
  it("one receiver that hangs and one that answers 429 delay the third by nothing", async () => {
    open([
      receiver("slow", async (_notification, signal) => {
        await clock.sleep(10 * secondMs, signal);
        return down;
      }),
      receiver("busy", () => ({ kind: "retry", error: "HTTP 429", retryAfterMs: minuteMs })),
      receiver("good", () => accepted),
    ]);
    for (const index of [1, 2, 3, 4, 5, 6])
      for (const name of ["slow", "busy", "good"]) await enqueue(`${name}-${index}`, name);
    await runFor(secondMs);

    expect(counted.filter((one) => one === "good delivered")).toHaveLength(6);
    expect(attempts.filter(({ receiver }) => receiver === "good").every(({ atMs }) => atMs <= secondMs)).toBe(true);
  });

  it("has at most four deliveries to one receiver under way", async () => {
    let underWay = 0;
    let most = 0;
    open([
      receiver("ops", async () => {
        most = Math.max(most, ++underWay);
        await clock.sleep(secondMs);
        underWay--;
        return accepted;
      }),
    ]);
    for (let index = 0; index < 10; index++) await enqueue(`n${index}`, "ops");
    await runFor(5 * secondMs);

    expect(most).toBe(4);
    expect(counted).toHaveLength(10);
  });

  it("keeps to a receiver's rate limit in any window", async () => {
    open([receiver("ops", () => accepted, { rateLimit: { count: 2, perMs: secondMs } })]);
    for (let index = 0; index < 6; index++) await enqueue(`n${index}`, "ops");
    await runFor(10 * secondMs);

    const times = attempts.map(({ atMs }) => atMs);
    expect(times).toHaveLength(6);
    for (const [index, atMs] of times.entries()) {
      const third = times[index + 2];
      if (third !== undefined) expect(third - atMs).toBeGreaterThanOrEqual(secondMs);
    }
    expect(times.at(-1)).toBeLessThan(4 * secondMs);
  });
});

describe("a process that ends", () => {
  it("delivers again under the same id what it could not acknowledge, at the next start", async () => {
    open([receiver("ops", () => accepted)], {
      store: withOutbox({ settle: (ended) => (ended.length > 0 ? Promise.reject(new Error("killed")) : none) }),
    });
    await enqueue("n1", "ops");
    await expect(outbox.runOnce()).rejects.toThrow("killed");
    open([receiver("ops", () => accepted)]);
    await runFor(secondMs);

    expect(attempts.map(({ id }) => id)).toEqual(["n1", "n1"]);
    expect(await store.outbox.list()).toEqual([]);
  });

  it("lets deliveries under way end within the drain, and begins nothing more", async () => {
    open([
      receiver("ops", async () => {
        await clock.sleep(3 * secondMs);
        return accepted;
      }),
    ]);
    await enqueue("n1", "ops");
    await runFor(secondMs);
    const stopped = outbox.stop(8 * secondMs);
    await enqueue("n2", "ops");
    await clock.advance(8 * secondMs);
    await stopped;

    expect(counted).toEqual(["ops delivered"]);
    expect(await store.outbox.list()).toMatchObject([{ id: "n2", state: "queued", attempts: 0 }]);
  });

  it("aborts what outlasts the drain, counts no outcome, and queues it again", async () => {
    open([
      receiver("ops", async (_notification, signal) => {
        await clock.sleep(hourMs, signal);
        return down;
      }),
    ]);
    await enqueue("n1", "ops");
    await runFor(secondMs);
    const stopped = outbox.stop(2 * secondMs);
    await clock.advance(2 * secondMs);
    await stopped;

    expect([counted, timedOut]).toEqual([[], []]);
    expect(await store.outbox.list()).toMatchObject([{ id: "n1", state: "queued" }]);
    expect(outbox.isStalled(), "one that has stopped ticks no more").toBe(true);
  });
});

describe("receivers after a reload", () => {
  it("dead-letters what waits for one that is gone, and delivers to one that is new", async () => {
    open([receiver("old", () => down)]);
    await enqueue("n1", "old");
    await outbox.runOnce();
    await outbox.setReceivers([receiver("new", () => accepted)]);
    await enqueue("n2", "new");
    await runFor(minuteMs);

    expect((await store.outbox.list()).map(({ id, state }) => `${id} ${state}`)).toEqual(["n1 dead"]);
    expect(counted.at(-1)).toBe("new delivered");
  });
});

describe("recipients of one receiver", () => {
  it.each([
    ["one that a reload took away", ["kim", "lee"], ["lee"], "kim", "kim"],
    ["a receiver that has none any more", ["kim"], undefined, "kim", "kim"],
    ["a receiver that had none", undefined, ["kim"], null, "a receiver as a whole"],
  ])("dead-letters what waits for %s, and sends it to nobody", async (_rule, before, after, recipient, said) => {
    const withRecipients = (recipients: readonly string[] | undefined): OutboxReceiver =>
      receiver("mail", () => down, recipients === undefined ? {} : { recipients });
    open([withRecipients(before)]);
    await enqueue("n1", "mail", 1, recipient);
    await outbox.runOnce();
    expect(logged[0]).toMatchObject({ fields: recipient === null ? { receiver: "mail" } : { recipient } });
    await outbox.setReceivers([withRecipients(after)]);
    await runFor(2 * secondMs);

    expect(attempts).toHaveLength(1);
    expect(await store.outbox.list()).toMatchObject([
      { state: "dead", lastError: `${said} is no recipient of mail any more` },
    ]);
  });
});

describe("a receiver that forgets", () => {
  it("is told again every resendInterval, outside of the queue and never beside a delivery", async () => {
    const resent = testNotification({
      id: "again",
      receiver: "am",
      recipient: null,
      nowMs: startMs,
      externalUrl: null,
    });
    let underWay = 0;
    open(
      [
        receiver(
          "am",
          async () => {
            expect(++underWay).toBe(1);
            await clock.sleep(2 * secondMs);
            underWay--;
            return accepted;
          },
          { resendIntervalMs: minuteMs },
        ),
      ],
      { resend: () => Promise.resolve(resent) },
    );
    await runFor(minuteMs - secondMs);
    await enqueue("n1", "am");
    outbox.wake();
    await clock.advance(3 * minuteMs);

    expect(attempts.map(({ id }) => id)).toEqual(["n1", "again", "again", "again"]);
    expect(counted).toEqual(["am delivered"]);
  });
});

describe("health", () => {
  it("is stalled when it has not looked at the queue for half a minute", async () => {
    open([receiver("ops", () => accepted)], {
      store: { outbox: store.outbox, transaction: () => new Promise(() => undefined) },
    });
    await enqueue("n1", "ops");
    expect(outbox.isStalled()).toBe(false);
    outbox.start();
    await clock.advance(31 * secondMs);

    expect(outbox.isStalled()).toBe(true);
    open([]);
  });
});
