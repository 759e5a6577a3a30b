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

// Others wake the loop, and waiting entries have a due time: a look without a cause is rare.
const pollMs = 15 * 60_000;
// The pause after a failure, or after a look so slow that its claimed entries were not begun.
const retryAfterMs = 1_000;
const stalledAfterMs = 30_000;
// Entries for a removed receiver come from a process with an older configuration.
const sweepEveryMs = 30_000;
const abortGraceMs = 250;
// After a longer suspension nothing begins: another process may have taken over.
const beginWithinMs = 3_000;

export type Outbox = ReturnType<typeof createOutbox>;

export interface OutboxOptions {
  readonly store: Pick<Store, "outbox" | "transaction">;
  readonly clock: Clock;
  /** In [0, 1), for the jitter. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "notificationAttempt" | "receiverTimedOut">;
  readonly receivers: readonly OutboxReceiver[];
  /** Forms a reminder for a receiver that forgets (notifier.ts); null: nothing fires. */
  readonly resend: (receiver: string) => Promise<Notification | null>;
  readonly onAnswered?: () => void;
}

/** A claimed entry with its notification. */
interface Claimed {
  readonly entry: LeasedEntry;
  readonly notification: Notification;
}

interface Answer extends Claimed {
  readonly end: EndedDelivery;
  /** The pause that the receiver asked for, ms. */
  readonly pausedMs: number;
  /** Stored for the delivery history; null: no attempt was made. */
  readonly attempt: NewDeliveryAttempt | null;
}

/**
 * Creates the outbox, which delivers to each receiver independently (CONTRACT 7). A turn of its loop stores
 * answers and claims due entries in one transaction, then begins these. A delivery that ends wakes the loop.
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
  /** Deliveries by notification id, and reminders. */
  const underWay = new Map<string, Promise<void>>();
  let answers: readonly Answer[] = [];
  /** The store may have claims that this process does not deliver: of an earlier process, or of a failed commit. */
  let hasStrays = true;
  let sweptAtMs = -Infinity;
  /** The error that kept an answer from being stored during the stop. */
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

  /** Begins what may begin. A promise of `begun` resolves when its delivery has ended. */
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
    // Due entries that were not claimed wait for the end of a delivery, which wakes the loop.
    const dueMs = (nextDueAtMs ?? Infinity) - clock.nowMs();
    const waitMs = Math.min(pollMs, Math.max(0, dueMs), ...[...lanes.values()].map((lane) => lane.waitMs()));
    // A stored answer changes what waits.
    return { begun, waitMs: hasAnswers ? 0 : waitMs };
  }

  /** Stores the answers and claims entries. Answers that could not be stored wait for the next time. */
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
    // The stop aborted it and queues it again.
    if (outcome.kind === "retry" && aborting.signal.aborted) return;
    const times = { atMs: clock.nowMs(), tookMs: clock.monotonicMs() - startedMs };
    const end = endOf(entry, settings.maxAgeMs, outcome, { nowMs: times.atMs, random: options.random });
    const pausedMs = pauseOf(outcome);
    if (outcome.kind === "retry" && pausedMs > 0)
      logger.warn({ receiver: entry.receiver, askedMs: outcome.retryAfterMs, pausedMs }, "receiver asked for a pause");
    await note({ ...claimed, end, pausedMs, attempt: answeredAttempt(notification, outcome, times) });
  }

  /** Sends a reminder to a receiver that forgets. No retries: the next reminder says what fires then. */
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

  /** Keeps an answer for the next turn of the loop. Stores it at once when the loop has stopped. */
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
    if (gone === 0) return;
    options.onAnswered?.();
    logger.error({ notifications: gone }, "notifications of removed receivers dead-lettered");
  }

  async function endAll(): Promise<void> {
    await loop.stop();
    await storeAnswers();
    await Promise.all(underWay.values());
    await storeAnswers();
  }

  return {
    start: loop.start,
    /** Looks at the queue at once. */
    wake: () => loop.wake(),
    /** Returns true if it has not looked at the queue for too long, or has stopped. */
    isStalled: loop.isStalled,
    /** Delivers what is due. Returns how many deliveries it began, after all have ended and are stored. */
    runOnce: async (): Promise<number> => {
      const { begun } = await look();
      await Promise.all(begun);
      await exchange([]);
      return begun.length;
    },
    /** Takes the receivers of a reload. Entries for removed ones are dead-lettered. */
    setReceivers: async (receivers: readonly OutboxReceiver[]): Promise<void> => {
      setLanes(receivers);
      await deadLetterGone();
      loop.wake();
    },
    /**
     * Begins nothing more, waits `drainMs` for current deliveries, then aborts them and queues them again.
     * @throws the error of the store
     */
    stop: async (drainMs: number): Promise<void> => {
      const hung = await drain(clock, endAll(), { drainMs, giveUp: () => aborting.abort() });
      await store.outbox.requeueBut([]);
      if ((unstored ?? hung) !== null) throw unstored ?? hung;
    },
  };
}

/** Removes the ends of alerts that the receiver never heard of, because their notification was given up. */
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

/** A longer Retry-After is a mistake: an hour without messages is enough for any rate limit (CONTRACT 7). */
const longestPauseMs = hourMs;

// CONTRACT 7.
const firstMs = 1_000;
const longestMs = 300_000;

/**
 * Decides the end of an attempt: delivered, tried again, or dead-lettered. Waits have full jitter over 1 s, 2 s, 4 s …
 * 5 min, to spread deliveries that failed together. The last attempt is when `maxAgeMs` ends, or after a pause of the
 * receiver. `random` gives [0, 1).
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

/** Returns the pause that the receiver asked for, ms, at most an hour; 0: none. */
function pauseOf(outcome: DeliveryOutcome): number {
  return outcome.kind === "retry" ? Math.min(outcome.retryAfterMs ?? 0, longestPauseMs) : 0;
}
