import type { Receiver } from "../alerting/deliver/receiver.ts";
import { createLoop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { DeliveryStore, NewDeliveryAttempt } from "../store/alerts/deliveries.ts";

/** The answers of receivers, kept for people who look back: the outbox forgets accepted entries. */
export interface DeliveryLog {
  /** The receiver, with what it answers noted. */
  watch(receiver: Receiver): Receiver;
  /** Stores what is noted and not stored yet. */
  flush(): Promise<void>;
  /** Stores what is noted. @throws what kept it from being stored */
  stop(): Promise<void>;
}

export interface DeliveryLogOptions {
  readonly store: DeliveryStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after each attempt. */
  readonly onAttempt: () => void;
}

// A storm of attempts is one write; the page asks for a flush before it reads.
const flushAfterMs = secondMs;

/**
 * Creates a log over the store. It is written beside the deliveries, not with them: a crash may lose the last second of what the page
 * shows, and costs no delivery anything.
 */
export function createDeliveryLog({ store, clock, logger, onAttempt }: DeliveryLogOptions): DeliveryLog {
  // The loop sleeps while there is nothing to write.
  const loop = createLoop({ clock, everyMs: Infinity, firstAfterMs: Infinity, runOnce: flush, onError: note });
  let noted: NewDeliveryAttempt[] = [];
  let writing: Promise<void> = Promise.resolve();
  /** What kept a write from being done while it stops. */
  let failure: unknown = null;

  function flush(): Promise<void> {
    writing = write(writing);
    return writing;
  }

  async function write(before: Promise<void>): Promise<void> {
    await before;
    const attempts = noted;
    noted = [];
    if (attempts.length === 0) return;
    try {
      await store.add(attempts);
    } catch (error) {
      note(error);
    }
  }

  function note(error: unknown): void {
    if (loop.signal.aborted) failure = error;
    else logger.warn({ err: error }, "what receivers answered could not be stored");
  }

  loop.start();
  return {
    watch: (receiver) => ({
      ...receiver,
      name: receiver.name,
      type: receiver.type,
      deliver: async (notification, context) => {
        const startedMs = clock.monotonicMs();
        const outcome = await receiver.deliver(notification, context);
        noted.push({
          notificationId: notification.id,
          receiver: receiver.name,
          recipient: context.recipient ?? null,
          atMs: clock.nowMs(),
          tookMs: Math.round(clock.monotonicMs() - startedMs),
          outcome: outcome.kind === "accepted" || outcome.kind === "retry" ? outcome.kind : "refused",
          detail: outcome.kind === "accepted" ? outcome.detail : outcome.error,
          // A test notification is about no organization, whatever slug it has.
          slugs: [...new Set(notification.alerts.flatMap(({ slug, event }) => (event === "test" ? [] : [slug])))],
          fleetId: notification.fleet?.id ?? null,
          alertIds: [...new Set(notification.alerts.map(({ id }) => id))],
        });
        loop.wake(flushAfterMs);
        onAttempt();
        return outcome;
      },
    }),
    flush,
    stop: async () => {
      await loop.stop();
      await flush();
      if (failure !== null) throw failure;
    },
  };
}
