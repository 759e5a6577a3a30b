import { drain } from "../../base/lifecycle.ts";
import type { Logger } from "../../base/logger.ts";
import { createLoop } from "../../base/loop.ts";
import { eventLoopTurn, type Clock, hourMs } from "../../base/time.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { NewDeliveryAttempt } from "../../store/alerts/deliveries.ts";
import type { EndedDelivery, LeasedEntry } from "../../store/alerts/outbox.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Store } from "../../store/store.ts";
import { isEndEvent } from "../decide/due.ts";
import type { AlertNotice, Notification } from "../notify/notification.ts";
import { answeredAttempt, attemptDelivery, type OutboxReceiver } from "./attempt.ts";
import { Lane } from "./lane.ts";
import { readNotification } from "./outbox-acts.ts";
import type { DeliveryOutcome } from "./receiver.ts";

// Where others wake it, and entries that wait say when they are due, a look without a cause is rare.
const pollMs = 15 * 60_000;
// The pause after a failure, or after a look that took so long that claimed entries were not begun.
const retryAfterMs = 1_000;
const stalledAfterMs = 30_000;
// What waits for a receiver that is gone comes from a process with an older configuration.
const sweepEveryMs = 30_000;
const abortGraceMs = 250;
// A process that was suspended for longer begins nothing: another one may have taken over.
const beginWithinMs = 3_000;

export type Outbox = ReturnType<typeof createOutbox>;

export interface OutboxOptions {
  readonly store: Pick<Store, "outbox" | "transaction">;
  readonly clock: Clock;
  /** [0, 1), for the jitter. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "notificationAttempt" | "receiverTimedOut">;
  readonly receivers: readonly OutboxReceiver[];
  /** Forms what a receiver that forgets is sent again; null: nothing (alerting/notify/notifier.ts). */
  readonly resend: (receiver: string) => Promise<Notification | null>;
  readonly onAnswered?: () => void;
}

/** An entry that is to be delivered, and what it says. */
interface Claimed {
  readonly entry: LeasedEntry;
  readonly notification: Notification;
}

/** An answer of a receiver, to be stored. */
interface Answer extends Claimed {
  readonly end: EndedDelivery;
  /** For how long the receiver asked to be left alone. */
  readonly pausedMs: number;
  /** Kept for people who look back, and for whoever asks later what the receiver was told; null: none was made. */
  readonly attempt: NewDeliveryAttempt | null;
}

/**
 * Creates what delivers the store's queue, to each receiver independently of the others (CONTRACT 7, Delivery). Each turn of its loop is one transaction, which stores the answers that have come
 * and claims what may begin; then it begins that. A delivery that ends wakes the loop.
 */
export function createOutbox(options: OutboxOptions) {
  const { store, clock, metrics } = options;
  const logger = options.logger.child({ room: "outbox" });
  const loop = createLoop({
    clock,
    everyMs: pollMs,
    retryAfterMs,
    stalledAfterMs,
    followsWallClock: true,
    runOnce: async () => (await look()).waitMs,
    onError: noteFailure,
  });
  const aborting = new AbortController();
  const attempt = { clock, metrics, stop: aborting.signal, graceMs: abortGraceMs };
  const lanes = new Map<string, Lane>();
  /** The deliveries by the id of their notification, and what is sent again. */
  const underWay = new Map<string, Promise<void>>();
  let answers: readonly Answer[] = [];
  /** The store may have more under way than this process delivers: of a process before, or of a claim of unknown end. */
  let hasStrays = true;
  let sweptAtMs = -Infinity;
  /** What kept an answer from being stored during the stop. */
  let unstored: unknown = null;
  setLanes(options.receivers);

  function setLanes(receivers: readonly OutboxReceiver[]): void {
    const known = new Map(lanes);
    lanes.clear();
    for (const settings of receivers) {
      const { name } = settings.receiver;
      const lane = known.get(name) ?? new Lane(clock, settings);
      lane.settings = settings;
      lanes.set(name, lane);
    }
  }

  /** Begins what may begin; each delivery of `begun` resolves when it has ended. */
  async function look(): Promise<{ readonly begun: readonly Promise<void>[]; readonly waitMs: number }> {
    // Receivers that answer at the same moment share a commit.
    await eventLoopTurn();
    if (clock.monotonicMs() - sweptAtMs >= sweepEveryMs) await deadLetterGone();
    if (hasStrays) await store.outbox.requeueBut([...underWay.keys(), ...answers.map(({ end }) => end.id)]);
    hasStrays = false;
    for (const lane of lanes.values())
      if (lane.isResendDue()) void track(`again to ${lane.settings.receiver.name}`, resend(lane));
    const asked = { atMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const hasAnswers = answers.length > 0;
    const { leased, nextDueAtMs } = await exchange([...lanes.values()].filter((lane) => lane.free() > 0));
    const tookMs = Math.max(clock.nowMs() - asked.atMs, clock.monotonicMs() - asked.monotonicMs);
    if (loop.signal.aborted || tookMs >= beginWithinMs) {
      hasStrays = true;
      return { begun: [], waitMs: retryAfterMs };
    }
    const begun = leased.flatMap((claimed) => {
      const lane = lanes.get(claimed.entry.receiver);
      return lane === undefined ? [] : [track(claimed.entry.id, deliver(claimed, lane))];
    });
    // What is due and was not claimed waits for a delivery, which wakes the loop when it ends.
    const dueMs = (nextDueAtMs ?? Infinity) - clock.nowMs();
    const waitMs = Math.min(pollMs, Math.max(0, dueMs), ...[...lanes.values()].map((lane) => lane.waitMs()));
    // An answer that was stored has changed what waits.
    return { begun, waitMs: hasAnswers ? 0 : waitMs };
  }

  /** Stores the received answers and claims entries. Answers that could not be stored are stored the next time. */
  async function exchange(free: readonly Lane[]) {
    const stored = answers;
    answers = [];
    try {
      const { ours, ...claimed } = await store.transaction(async ({ outbox, deliveries, queued }) => {
        const nowMs = clock.nowMs();
        const ours = await outbox.settle(stored.map(({ end }) => end));
        await deliveries.add(stored.flatMap((answer) => answer.attempt ?? []));
        for (const { end, notification, pausedMs } of stored) {
          const { receiver } = notification;
          if (end.kind === "dead" && ours.has(end.id)) await queued.goBack(notification, nowMs);
          if (pausedMs > 0) await outbox.pause({ receiver, untilMs: nowMs + pausedMs });
        }
        const claims = free.map((lane) => ({ receiver: lane.settings.receiver.name, nowMs, limit: lane.free() }));
        const leased = await withoutUntold(deliveries, await outbox.claim(claims));
        return { ours, leased, nextDueAtMs: await outbox.nextDueAtMs(nowMs) };
      });
      for (const answer of stored) noteEnd(answer, ours.has(answer.end.id));
      if (stored.length > 0) options.onAnswered?.();
      return claimed;
    } catch (error) {
      answers = [...stored, ...answers];
      hasStrays = true;
      throw error;
    }
  }

  function track(id: string, work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => underWay.delete(id));
    underWay.set(id, tracked);
    return tracked;
  }

  async function deliver({ entry, notification }: Claimed, lane: Lane): Promise<void> {
    const { settings } = lane;
    const { id } = entry;
    const claimed = { entry, notification };
    if (notification.alerts.length === 0)
      return note({ ...claimed, end: { kind: "dropped", id }, pausedMs: 0, attempt: null });
    const startedMs = clock.monotonicMs();
    lane.begin();
    const outcome = await attemptDelivery(settings, notification, attempt);
    lane.end();
    // Aborted by our own stop, which queues it again.
    if (outcome.kind === "retry" && aborting.signal.aborted) return;
    const times = { atMs: clock.nowMs(), tookMs: clock.monotonicMs() - startedMs };
    const end = endOf(entry, settings.maxAgeMs, outcome, { nowMs: times.atMs, random: options.random });
    const pausedMs = pauseOf(outcome);
    if (outcome.kind === "retry" && pausedMs > 0)
      logger.warn({ receiver: entry.receiver, askedMs: outcome.retryAfterMs, pausedMs }, "receiver asked for a pause");
    await note({ ...claimed, end, pausedMs, attempt: answeredAttempt(notification, outcome, times) });
  }

  /** Sends again what still fires to a receiver that forgets, once each time: the next one says what fires then. */
  async function resend(lane: Lane): Promise<void> {
    const { name } = lane.settings.receiver;
    lane.begin();
    lane.resent();
    try {
      const askedMs = clock.monotonicMs();
      const isPaused = (await store.outbox.pauses(clock.nowMs())).has(name);
      const notification = isPaused ? null : await options.resend(name);
      if (notification === null) return;
      if (clock.monotonicMs() - askedMs >= beginWithinMs) return;
      const outcome = await attemptDelivery(lane.settings, notification, attempt);
      const pausedMs = pauseOf(outcome);
      if (pausedMs > 0) await store.outbox.pause({ receiver: name, untilMs: clock.nowMs() + pausedMs });
      if (outcome.kind === "accepted") logger.debug({ receiver: name }, "alerts sent again");
      else if (!aborting.signal.aborted)
        logger.warn({ receiver: name, error: outcome.error }, "alerts could not be sent again");
    } catch (error) {
      logger.error({ err: error, receiver: name }, "alerts could not be sent again");
    } finally {
      lane.end();
      loop.wake();
    }
  }

  /** Keeps an answer for the next turn of the loop; stores it at once when there is none any more. */
  async function note(answer: Answer): Promise<void> {
    answers = [...answers, answer];
    if (loop.signal.aborted) await storeAnswers();
    else loop.wake();
  }

  async function storeAnswers(): Promise<void> {
    try {
      await exchange([]);
      unstored = null;
    } catch (error) {
      unstored = error;
    }
  }

  function noteEnd({ entry, end, pausedMs, attempt: made }: Answer, isOurs: boolean): void {
    const { id, receiver, recipient, attempts } = entry;
    const facts = { notification: id, receiver, ...(recipient === null ? {} : { recipient }), attempts };
    if (!isOurs) return logger.warn(facts, "notification was discarded while it was delivered");
    if (end.kind === "dropped") return logger.info(facts, "end of what was never told is not sent");
    if (end.kind === "dead") logger.error({ ...facts, error: end.lastError }, "notification dead-lettered");
    else if (end.kind === "retry") {
      const retryInMs = Math.max(end.nextAttemptAtMs - clock.nowMs(), pausedMs);
      logger.warn({ ...facts, error: end.lastError, retryInMs }, "notification not accepted yet");
    } else logger.info(facts, "notification delivered");
    metrics.notificationAttempt(receiver, labels[end.kind], (made?.tookMs ?? 0) / 1_000);
  }

  function noteFailure(error: unknown): void {
    if (loop.signal.aborted) unstored = error;
    logger.error({ err: error }, "outbox could not be read");
  }

  async function deadLetterGone(): Promise<void> {
    sweptAtMs = clock.monotonicMs();
    if (!(await store.outbox.totals()).some(({ receiver, pending }) => pending > 0 && !lanes.has(receiver))) return;
    const reason = "the receiver is no longer configured";
    const gone = await store.transaction(async ({ outbox, queued }) => {
      const payloads = await outbox.deadLetterUnknownReceivers([...lanes.keys()], reason);
      for (const payload of payloads) await queued.goBack(readNotification(payload), clock.nowMs());
      return payloads.length;
    });
    if (gone > 0) logger.error({ notifications: gone }, "notifications of removed receivers dead-lettered");
  }

  async function endAll(): Promise<void> {
    await loop.stop();
    await storeAnswers();
    await Promise.all(underWay.values());
    await storeAnswers();
  }

  return {
    start: loop.start,
    /** Looks at the queue at once: something was put into it. */
    wake: () => loop.wake(),
    /** Returns true if it has not looked at the queue for too long, or was stopped. */
    isStalled: loop.isStalled,
    /** Delivers what is due now. Returns how many deliveries it began, when all have ended and are stored. */
    runOnce: async (): Promise<number> => {
      const { begun } = await look();
      await Promise.all(begun);
      await exchange([]);
      return begun.length;
    },
    /** Takes over the receivers of a reload; what waits for one that is gone is dead-lettered. */
    setReceivers: async (receivers: readonly OutboxReceiver[]): Promise<void> => {
      setLanes(receivers);
      await deadLetterGone();
      loop.wake();
    },
    /**
     * Begins nothing more, gives current deliveries `drainMs`, then aborts them and queues them again.
     * @throws what kept an answer from being stored, or a delivery from being queued again
     */
    stop: async (drainMs: number): Promise<void> => {
      const hung = await drain(clock, endAll(), { drainMs, giveUp: () => aborting.abort() });
      await store.outbox.requeueBut([]);
      if ((unstored ?? hung) !== null) throw unstored ?? hung;
    },
  };
}

/** Leaves out the ends of alerts that their receiver was told nothing of: what told of them was given up. */
async function withoutUntold(
  deliveries: Pick<StoreParts["deliveries"], "toldOfEach">,
  entries: readonly LeasedEntry[],
): Promise<readonly Claimed[]> {
  const claimed = entries.map((entry) => ({ entry, notification: readNotification(entry.payload) }));
  const isEnd = ({ event }: AlertNotice): boolean => isEndEvent(event);
  const ended = claimed.flatMap(({ notification }) => notification.alerts.filter(isEnd).map(({ id }) => id));
  if (ended.length === 0) return claimed;
  const isTold = await deliveries.toldOfEach(ended);
  return claimed.map(({ entry, notification }) => {
    const alerts = notification.alerts.filter((one) => !isEnd(one) || isTold(one.id, notification));
    return { entry, notification: { ...notification, alerts } };
  });
}

const labels = { delivered: "delivered", retry: "retried", dead: "dead_lettered" } as const;

/** A Retry-After of years is a mistake, and an hour without a message is long enough for a limit that is meant (CONTRACT 7). */
const longestPauseMs = hourMs;

// CONTRACT 7, Delivery.
const firstMs = 1_000;
const longestMs = 300_000;

/**
 * Decides what follows from an answer: accepted ones are deleted, the others are tried again or dead-lettered. The wait is full jitter
 * over 1 s, 2 s, 4 s … 5 min, so that what failed together does not come back together; the last attempt is made when `maxAgeMs`
 * ends, not some minutes before it, or when a pause of the receiver ends after it. `random` gives [0, 1).
 */
function endOf(
  { id, attempts, createdAtMs }: LeasedEntry,
  maxAgeMs: number,
  outcome: DeliveryOutcome,
  { nowMs, random }: { readonly nowMs: number; readonly random: () => number },
): EndedDelivery {
  if (outcome.kind === "accepted") return { kind: "delivered", id };
  const deadlineMs = createdAtMs + maxAgeMs;
  const lastError = outcome.error;
  if (outcome.kind === "rejected" || nowMs >= deadlineMs) return { kind: "dead", id, lastError };
  const ceilingMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempts - 1, 20));
  return {
    kind: "retry",
    id,
    lastError,
    nextAttemptAtMs: Math.min(nowMs + Math.ceil(random() * ceilingMs), deadlineMs),
  };
}

/** Returns for how long the receiver asked to be left alone, ms, at most an hour; 0: it did not. */
function pauseOf(outcome: DeliveryOutcome): number {
  return outcome.kind === "retry" ? Math.min(outcome.retryAfterMs ?? 0, longestPauseMs) : 0;
}
