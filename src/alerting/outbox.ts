import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { LeasedEntry, OutboxLease, OutboxStore } from "../store/outbox.ts";
import { attemptDelivery, type OutboxReceiver } from "./attempt.ts";
import { retryDelayMs } from "./backoff.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createLane, type Lane } from "./lane.ts";
import type { Notification } from "./notification.ts";

// Retries and discards of another process are seen within 5 s (CONTRACT 3); two looks leave room for a slow one.
const pollMs = 2_000;
const stalledAfterMs = 30_000;
// While one receiver has more than it can take, the others' due times are read only so often: reading them costs more than
// to claim what is due.
const rereadMs = 100;
// Beyond the receiver's timeout: for the acknowledgement, and a receiver that needs a moment to notice the abort.
const leaseMarginMs = 5_000;
const abortGraceMs = 1_000;
// One slow request must not hold back the notifications of other alerts; many at once would be a storm.
const deliveriesAtOnce = 4;

/** What one look at the queue did. */
export interface OutboxRun {
  readonly leased: number;
  readonly delivered: number;
  readonly retried: number;
  readonly deadLettered: number;
}

/** Delivers what waits, each receiver in a lane of its own (CONTRACT 7, Delivery). */
export interface Outbox {
  /** Begins to deliver. */
  start(): void;
  /** Leases what is due now, delivers it, and answers when all of that is over. */
  runOnce(): Promise<OutboxRun>;
  /** Something was put into the queue: looks at once. */
  wake(): void;
  /** Receivers after a reload; what waits for one that is gone is dead-lettered. */
  setReceivers(receivers: readonly OutboxReceiver[]): Promise<void>;
  /** True when it has not looked at the queue for so long that it must hang. */
  isStalled(): boolean;
  /** Leases nothing more, gives deliveries under way `drainMs`, then aborts them and gives the leases back. */
  stop(drainMs: number): Promise<void>;
}

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly clock: Clock;
  /** [0, 1), for the jitter. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "notificationAttempt">;
  /** Names this process in the leases. */
  readonly owner: string;
  readonly receivers: readonly OutboxReceiver[];
  /** What a receiver that forgets is to be told again; null: nothing (alerting/notifier.ts). */
  readonly resend: (receiver: string, lease: OutboxLease) => Promise<Notification | null>;
}

// Without a reason of its own each abort would make an exception with its stack.
const wokenUp = "woken up";

interface Claimed {
  readonly entry: LeasedEntry;
  readonly lane: Lane;
  /** When its lease was asked for, monotonic. */
  readonly askedMs: number;
}

type Ended = "delivered" | "retried" | "deadLettered" | "lost";

/** An outbox over the store's queue. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, clock, random, metrics, owner } = options;
  const logger = options.logger.child({ room: "outbox" });
  const stopping = new AbortController();
  const aborting = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let lanes = new Map<string, Lane>();
  let sleeping = new AbortController();
  let isAwake = false;
  let lastLookMs = clock.monotonicMs();
  let loop: Promise<void> | null = null;
  let dueTimes = new Map<string, number>();
  let dueTimesReadMs = 0;
  /** Receivers of which the last claim got as many as it asked for, or that may have something new. */
  const moreDue = new Set<string>();
  const acknowledge = createGroupCommit({
    keyOf: (id: string) => id,
    commit: async (ids) => {
      const ours = new Set(await store.deliveredAll(ids, owner));
      return ids.map((id) => ours.has(id));
    },
  });
  addLanes(options.receivers);

  function addLanes(receivers: readonly OutboxReceiver[]): void {
    const known = lanes;
    lanes = new Map(
      receivers.map((settings) => {
        const lane = known.get(settings.receiver.name) ?? createLane(clock, deliveriesAtOnce, settings);
        lane.settings = settings;
        return [settings.receiver.name, lane];
      }),
    );
  }

  function wake(): void {
    isAwake = true;
    if (!sleeping.signal.aborted) sleeping.abort(wokenUp);
  }

  function wakeForNew(): void {
    for (const name of lanes.keys()) moreDue.add(name);
    wake();
  }

  async function readDueTimes(): Promise<void> {
    const nowMs = clock.monotonicMs();
    if (moreDue.size > 0 && nowMs - dueTimesReadMs < rereadMs) return;
    dueTimesReadMs = nowMs;
    dueTimes = new Map(await store.nextAttempts(clock.nowMs()));
    if ([...dueTimes.keys()].some((name) => !lanes.has(name))) await deadLetterGone();
  }

  function track<Result>(work: Promise<Result>): Promise<Result> {
    underWay.add(work);
    void work.finally(() => {
      underWay.delete(work);
      wake();
    });
    return work;
  }

  /** Starts what may start; answers the deliveries begun and for how long there is nothing more to start. */
  async function look(): Promise<{ begun: Promise<Ended>[]; waitMs: number }> {
    const begun: Promise<Ended>[] = [];
    const ready: [string, Lane][] = [];
    let waitMs = pollMs;
    await readDueTimes();
    lastLookMs = clock.monotonicMs();
    for (const [name, lane] of lanes) {
      if (stopping.signal.aborted) break;
      const resendInMs = lane.resendInMs();
      if (resendInMs <= 0) {
        // Alone in its lane, so that it can never put back what a delivery beside it has just resolved.
        if (lane.isIdle()) void track(resend(name, lane));
        continue;
      }
      waitMs = Math.min(waitMs, resendInMs);
      const dueAtMs = moreDue.has(name) ? clock.nowMs() : dueTimes.get(name);
      if (dueAtMs === undefined || lane.isFull()) continue;
      const startInMs = Math.max(dueAtMs - clock.nowMs(), lane.freeInMs());
      if (startInMs > 0) {
        waitMs = Math.min(waitMs, startInMs);
        continue;
      }
      ready.push([name, lane]);
    }
    for (const claimed of await claim(ready)) begun.push(track(deliver(claimed)));
    return { begun, waitMs };
  }

  function leaseFor({ settings }: Lane): OutboxLease {
    const nowMs = clock.nowMs();
    return { owner, nowMs, untilMs: nowMs + settings.timeoutMs + leaseMarginMs };
  }

  async function claim(ready: readonly (readonly [string, Lane])[]): Promise<Claimed[]> {
    if (ready.length === 0) return [];
    const askedMs = clock.monotonicMs();
    const claims = ready.map(([receiver, lane]) => {
      const { nowMs, untilMs } = leaseFor(lane);
      return { receiver, nowMs, owner, leaseUntilMs: untilMs, limit: lane.places() };
    });
    const claimed = await store.claimAll(claims);
    return ready.flatMap(([receiver, lane], index) => {
      const entries = claimed[index] ?? [];
      if (entries.length === claims[index]?.limit) moreDue.add(receiver);
      else moreDue.delete(receiver);
      // What else waits there waits for its time, or for what is under way: to be read again.
      dueTimes.delete(receiver);
      for (const _ of entries) lane.begin();
      return entries.map((entry) => ({ entry, lane, askedMs }));
    });
  }

  /** What begins so late could end after its lease, when somebody else has gone on: this process was suspended. */
  function isTooLate(askedMs: number): boolean {
    return clock.monotonicMs() - askedMs >= leaseMarginMs;
  }

  async function deliver({ entry, lane, askedMs }: Claimed): Promise<Ended> {
    const startedMs = clock.monotonicMs();
    const { settings } = lane;
    try {
      if (isTooLate(askedMs)) return lost({ notification: entry.id, receiver: entry.receiver });
      const outcome = await attemptDelivery(settings, entry.payload, {
        clock,
        stop: aborting.signal,
        graceMs: abortGraceMs,
      });
      // Aborted by our own stop: the lease goes back, and no attempt was made as far as anybody can tell.
      if (outcome.kind === "retry" && aborting.signal.aborted) return "lost";
      if (outcome.kind === "retry" && outcome.retryAfterMs !== null) lane.pause(outcome.retryAfterMs);
      const ended = await settle(entry, settings, outcome);
      const label = ended === "deadLettered" ? "dead_lettered" : ended;
      if (label !== "lost")
        metrics.notificationAttempt(entry.receiver, label, (clock.monotonicMs() - startedMs) / 1_000);
      return ended;
    } catch (error) {
      // The lease runs out, and the notification goes out again under the same id.
      logger.error({ err: error, notification: entry.id, receiver: entry.receiver }, "delivery could not be recorded");
      return "lost";
    } finally {
      lane.end();
    }
  }

  async function settle(
    entry: OutboxEntry,
    settings: OutboxReceiver,
    outcome: Awaited<ReturnType<typeof attemptDelivery>>,
  ): Promise<Ended> {
    const { attempts } = entry;
    const facts = { notification: entry.id, receiver: entry.receiver, attempts };
    if (outcome.kind === "accepted") {
      const isOurs = await acknowledge(entry.id);
      if (isOurs) logger.info(facts, "notification delivered");
      return isOurs ? "delivered" : lost(facts);
    }
    const nowMs = clock.nowMs();
    const deadlineMs = entry.createdAtMs + settings.maxAgeMs;
    const askedMs = outcome.kind === "retry" ? outcome.retryAfterMs : null;
    const isOver = nowMs >= deadlineMs || (askedMs !== null && nowMs + askedMs > deadlineMs);
    if (outcome.kind === "rejected" || isOver) {
      const isOurs = await store.deadLetter(entry.id, owner, outcome.error);
      if (isOurs) logger.error({ ...facts, error: outcome.error }, "notification given up");
      return isOurs ? "deadLettered" : lost(facts);
    }
    // The last attempt is made when maxAge ends, not some minutes before it.
    const nextAttemptAtMs = Math.min(nowMs + retryDelayMs(attempts, outcome.retryAfterMs, random), deadlineMs);
    const isOurs = await store.retryLater(entry.id, owner, { nextAttemptAtMs, lastError: outcome.error });
    if (isOurs)
      logger.warn(
        { ...facts, error: outcome.error, retryInMs: nextAttemptAtMs - nowMs },
        "notification not accepted yet",
      );
    return isOurs ? "retried" : lost(facts);
  }

  function lost(facts: object): "lost" {
    logger.warn(facts, "lease of a notification was lost");
    return "lost";
  }

  async function resend(receiver: string, lane: Lane): Promise<void> {
    lane.begin();
    lane.resent();
    const askedMs = clock.monotonicMs();
    try {
      const notification = await options.resend(receiver, leaseFor(lane));
      if (notification === null || isTooLate(askedMs)) return;
      const payload = JSON.stringify(notification);
      const outcome = await attemptDelivery(lane.settings, payload, {
        clock,
        stop: aborting.signal,
        graceMs: abortGraceMs,
      });
      if (outcome.kind === "retry" && outcome.retryAfterMs !== null) lane.pause(outcome.retryAfterMs);
      // Accepted or not: the next one tells what fires then.
      await store.delivered(notification.id, owner);
      if (outcome.kind === "accepted") logger.debug({ receiver }, "alerts sent again");
      else if (!aborting.signal.aborted)
        logger.warn({ receiver, error: outcome.error }, "alerts could not be sent again");
    } catch (error) {
      logger.error({ err: error, receiver }, "alerts could not be sent again");
    } finally {
      lane.end();
    }
  }

  async function deadLetterGone(): Promise<void> {
    const gone = await store.deadLetterUnknownReceivers([...lanes.keys()], "the receiver is no longer configured");
    if (gone > 0) logger.error({ notifications: gone }, "notifications of removed receivers given up");
  }

  async function runLoop(): Promise<void> {
    while (!stopping.signal.aborted) {
      isAwake = false;
      sleeping = new AbortController();
      let waitMs = pollMs;
      try {
        ({ waitMs } = await look());
      } catch (error) {
        logger.error({ err: error }, "outbox could not be read");
      }
      if (!isAwake) await clock.sleep(waitMs, AbortSignal.any([stopping.signal, sleeping.signal]));
    }
  }

  return {
    start: () => {
      loop ??= runLoop();
    },
    runOnce: async () => {
      const { begun } = await look();
      const ended = await Promise.all(begun);
      const count = (wanted: Ended): number => ended.filter((one) => one === wanted).length;
      return {
        leased: begun.length,
        delivered: count("delivered"),
        retried: count("retried"),
        deadLettered: count("deadLettered"),
      };
    },
    wake: wakeForNew,
    setReceivers: async (receivers) => {
      addLanes(receivers);
      await deadLetterGone();
      wakeForNew();
    },
    isStalled: () => loop !== null && !stopping.signal.aborted && clock.monotonicMs() - lastLookMs > stalledAfterMs,
    stop: async (drainMs) => {
      stopping.abort();
      const drained = new AbortController();
      const overdue = clock.sleep(drainMs, drained.signal).then(() => aborting.abort());
      await loop;
      await Promise.allSettled(underWay);
      drained.abort();
      await overdue;
      await store.releaseLeases(owner);
    },
  };
}
