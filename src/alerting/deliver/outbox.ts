import { drain } from "../../base/lifecycle.ts";
import type { Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { OutboxLease, OutboxStore } from "../../store/alerts/outbox.ts";
import { attemptDelivery, type OutboxReceiver } from "./attempt.ts";
import { longestPauseMs } from "./backoff.ts";
import { createGathering } from "./gathering.ts";
import { createLane, type Lane, type Leased } from "./lane.ts";
import type { Notification } from "../notify/notification.ts";
import { createResending } from "./resending.ts";
import { createSettlement, type Ended } from "./settlement.ts";

// Retries and discards of another process are seen within 5 s (CONTRACT 3); two looks leave room for a slow one.
const pollMs = 2_000;
const stalledAfterMs = 30_000;
// While one receiver has more than it can take, the others' due times are read only so often: reading them costs more than
// to claim what is due.
const rereadMs = 100;
// To read them costs as much as the queue is long: at most a twentieth of the time.
const restFactor = 20;
// Beyond the receiver's timeout: for the acknowledgement, and a receiver that needs a moment to notice the abort.
const leaseMarginMs = 5_000;
const abortGraceMs = 250;
// What begins later could end after its lease, when somebody else has gone on.
const beginWithinMs = 3_000;
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
  /** True when it has not looked at the queue for so long that it must hang, or has stopped. */
  isStalled(): boolean;
  /**
   * Leases nothing more, gives deliveries under way `drainMs`, then aborts them and gives the leases back.
   * @throws what kept a delivery from being recorded, or a lease from going back
   */
  stop(drainMs: number): Promise<void>;
}

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly clock: Clock;
  /** [0, 1), for the jitter. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "notificationAttempt" | "attemptBegan">;
  /** Names this process in the leases. */
  readonly owner: string;
  readonly receivers: readonly OutboxReceiver[];
  /** What a receiver that forgets is to be told again; null: nothing (alerting/notify/notifier.ts). */
  readonly resend: (receiver: string, lease: OutboxLease) => Promise<Notification | null>;
}

// Without a reason of its own each abort would make an exception with its stack.
const wokenUp = "woken up";

interface ClaimedLane {
  readonly name: string;
  readonly lane: Lane;
  readonly limit: number;
}

/** An outbox over the store's queue. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, clock, metrics, owner } = options;
  const logger = options.logger.child({ room: "outbox" });
  const stopping = new AbortController();
  const aborting = new AbortController();
  const attemptOptions = { clock, metrics, stop: aborting.signal, graceMs: abortGraceMs };
  const underWay = new Set<Promise<unknown>>();
  /** What kept a delivery from being recorded while it stops. */
  let unrecorded: unknown = null;
  let lanes = new Map<string, Lane>();
  let sleeping = new AbortController();
  let isAwake = false;
  let lastLookMs = clock.monotonicMs();
  let loop: Promise<void> | null = null;
  let dueTimes = new Map<string, number>();
  let dueTimesReadMs = -Infinity;
  let dueTimesTookMs = 0;
  /** Receivers of which something was claimed or ended since the due times were read. */
  const unknown = new Set<string>();
  /** Receivers of which the last claim got as many as it asked for, or that may have something new. */
  const moreDue = new Set<string>();
  const gathering = createGathering({ clock, isMoreToCome });
  const settle = createSettlement({
    store,
    clock,
    random: options.random,
    logger,
    owner,
    gather: () => gathering.gather(),
  });
  const resend = createResending({
    store,
    clock,
    logger,
    owner,
    attempt: attemptOptions,
    form: options.resend,
    pause,
    wake,
  });
  addLanes(options.receivers);

  function addLanes(receivers: readonly OutboxReceiver[]): void {
    const known = lanes;
    lanes = new Map(
      receivers.map((settings) => {
        const lane = known.get(settings.receiver.name) ?? newLane(settings);
        lane.settings = settings;
        return [settings.receiver.name, lane];
      }),
    );
  }

  function newLane(settings: OutboxReceiver): Lane {
    // Who asks for one look wants what is due then, and no more.
    const leasesAhead = (): boolean => loop !== null && !stopping.signal.aborted;
    return createLane({ clock, width: deliveriesAtOnce, beginWithinMs, leasesAhead, settings });
  }

  function isMoreToCome(): boolean {
    const all = [...lanes.values()];
    if (stopping.signal.aborted || all.some((lane) => lane.isUnrecorded())) return false;
    return all.some((lane) => lane.hasShelved());
  }

  function wake(): void {
    isAwake = true;
    if (!sleeping.signal.aborted) sleeping.abort(wokenUp);
  }

  function wakeForNew(): void {
    for (const name of lanes.keys()) moreDue.add(name);
    wake();
  }

  /** Reads them when one is asked for, or else now and then: others change them, too. Answers when to ask again, ms. */
  async function readDueTimes(): Promise<number> {
    const startedMs = clock.monotonicMs();
    const agoMs = startedMs - dueTimesReadMs;
    const isAsked = [...lanes].some(([name, lane]) => unknown.has(name) && !moreDue.has(name) && !lane.hasShelved());
    const restMs = Math.max(moreDue.size > 0 ? rereadMs : 0, dueTimesTookMs * restFactor);
    const dueInMs = Math.min(isAsked ? restMs : pollMs, pollMs) - agoMs;
    if (loop !== null && dueInMs > 0) return dueInMs;
    dueTimesReadMs = startedMs;
    unknown.clear();
    dueTimes = new Map(await store.nextAttempts(clock.nowMs()));
    dueTimesTookMs = clock.monotonicMs() - startedMs;
    if ([...dueTimes.keys()].some((name) => !lanes.has(name))) await deadLetterGone();
    return pollMs;
  }

  function track<Result>(work: Promise<Result>): Promise<Result> {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
    return work;
  }

  /** Starts what may start; answers the deliveries begun and for how long there is nothing more to start. */
  async function look(): Promise<{ begun: Promise<Ended>[]; waitMs: number }> {
    const begun: Promise<Ended>[] = [];
    const ready: ClaimedLane[] = [];
    await giveBack((lane) => lane.takeStale());
    let waitMs = await readDueTimes();
    lastLookMs = clock.monotonicMs();
    for (const [name, lane] of lanes) {
      if (stopping.signal.aborted) break;
      const resendInMs = lane.resendInMs();
      if (resendInMs <= 0) {
        // Alone in its lane, so that it can never put back what a delivery beside it has just resolved.
        if (lane.isIdle()) void track(resend(lane, leaseFor(lane)));
        continue;
      }
      waitMs = Math.min(waitMs, resendInMs);
      begun.push(...beginShelved(lane));
      const freeInMs = lane.freeInMs();
      if (freeInMs > 0 && moreDue.delete(name)) dueTimes.set(name, clock.nowMs());
      const dueAtMs = moreDue.has(name) ? clock.nowMs() : dueTimes.get(name);
      if (dueAtMs === undefined) continue;
      const startInMs = Math.max(dueAtMs - clock.nowMs(), freeInMs);
      if (startInMs > 0) waitMs = Math.min(waitMs, startInMs);
      const limit = startInMs > 0 ? 0 : lane.wanted();
      if (limit > 0) ready.push({ name, lane, limit });
    }
    await claim(ready);
    for (const { lane } of ready) begun.push(...beginShelved(lane));
    for (const lane of lanes.values()) waitMs = Math.min(waitMs, Math.max(0, lane.staleInMs()));
    return { begun, waitMs };
  }

  function beginShelved(lane: Lane): Promise<Ended>[] {
    const begun: Promise<Ended>[] = [];
    if (stopping.signal.aborted || lane.resendInMs() <= 0) return begun;
    for (let leased = lane.take(); leased !== null; leased = lane.take()) begun.push(track(deliver(leased, lane)));
    return begun;
  }

  /** What was leased and will not be begun in time is for whoever has time for it. */
  async function giveBack(take: (lane: Lane) => readonly Leased[]): Promise<void> {
    const ids: string[] = [];
    for (const lane of lanes.values()) for (const { entry } of take(lane)) ids.push(entry.id);
    if (ids.length === 0) return;
    await store.giveBack(ids, owner);
    dueTimesReadMs = -Infinity;
  }

  function leaseFor({ settings }: Lane): OutboxLease {
    const nowMs = clock.nowMs();
    return { owner, nowMs, untilMs: nowMs + settings.timeoutMs + leaseMarginMs };
  }

  async function claim(ready: readonly ClaimedLane[]): Promise<void> {
    if (ready.length === 0) return;
    const asked = { askedMs: clock.monotonicMs(), askedAtMs: clock.nowMs() };
    const claims = ready.map(({ name, lane, limit }) => {
      const { nowMs, untilMs } = leaseFor(lane);
      return { receiver: name, nowMs, owner, leaseUntilMs: untilMs, limit };
    });
    const claimed = await store.claimAll(claims);
    for (const [index, { name, lane, limit }] of ready.entries()) {
      const entries = claimed[index] ?? [];
      if (entries.length === limit) moreDue.add(name);
      else moreDue.delete(name);
      // What else waits there waits for its time, or for what is under way: to be read again.
      dueTimes.delete(name);
      unknown.add(name);
      lane.shelve(entries.map((entry) => ({ entry, ...asked })));
    }
  }

  async function deliver({ entry }: Leased, lane: Lane): Promise<Ended> {
    const startedMs = clock.monotonicMs();
    const { settings } = lane;
    lane.begin();
    try {
      const outcome = await attemptDelivery(settings, entry, attemptOptions);
      const tookSeconds = (clock.monotonicMs() - startedMs) / 1_000;
      lane.answered();
      // Aborted by our own stop: the lease goes back, and no attempt was made as far as anybody can tell.
      if (outcome.kind === "retry" && aborting.signal.aborted) return "lost";
      if (outcome.kind === "retry" && outcome.retryAfterMs !== null) await pause(lane, outcome.retryAfterMs);
      goOn(lane);
      const ended = await settle(entry, settings, outcome);
      const label = ended === "deadLettered" ? "dead_lettered" : ended;
      if (label !== "lost") metrics.notificationAttempt(entry.receiver, label, tookSeconds);
      return ended;
    } catch (error) {
      // The lease runs out, and the notification goes out again under the same id.
      logger.error({ err: error, notification: entry.id, receiver: entry.receiver }, "delivery could not be recorded");
      if (stopping.signal.aborted) unrecorded = error;
      return "lost";
    } finally {
      lane.recorded();
      unknown.add(entry.receiver);
      void beginShelved(lane);
      // What waited behind it may go now.
      if (!lane.hasShelved()) wake();
    }
  }

  /** Leaves the receiver alone for as long as it asks. The store keeps it: for replicas, commands and the next start. */
  async function pause(lane: Lane, askedMs: number): Promise<void> {
    const { name } = lane.settings.receiver;
    const nowMs = clock.nowMs();
    const untilMs = nowMs + Math.min(askedMs, longestPauseMs);
    lane.hold();
    try {
      await store.pause({ receiver: name, nowMs, untilMs });
      await giveBack((one) => (one === lane ? lane.takeAll() : []));
    } finally {
      lane.release();
    }
    logger.warn({ receiver: name, askedMs, pausedMs: untilMs - nowMs }, "receiver asked for a pause");
  }

  /** A place is free. */
  function goOn(lane: Lane): void {
    void beginShelved(lane);
    if (lane.isUnrecorded() || !lane.hasShelved()) gathering.end();
    if (lane.isLow() && moreDue.has(lane.settings.receiver.name)) wake();
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

  async function endAll(): Promise<void> {
    await loop;
    // At once, and not when the drain is over: somebody else may have time for it.
    await giveBack((lane) => lane.takeAll()).catch((error: unknown) => (unrecorded = error));
    await Promise.allSettled(underWay);
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
      // Leased for the timeout that held then, or for a receiver that is gone.
      await giveBack((lane) => lane.takeAll());
      addLanes(receivers);
      await deadLetterGone();
      wakeForNew();
    },
    isStalled: () => stopping.signal.aborted || (loop !== null && clock.monotonicMs() - lastLookMs > stalledAfterMs),
    stop: async (drainMs) => {
      stopping.abort();
      gathering.end();
      const hung = await drain(clock, endAll(), { drainMs, giveUp: () => aborting.abort() });
      await store.releaseLeases(owner);
      if ((unrecorded ?? hung) !== null) throw unrecorded ?? hung;
    },
  };
}
