import { discardEntry, retryEntry } from "../../alerting/deliver/outbox-acts.ts";
import { deliverTest } from "../../alerting/deliver/test-delivery.ts";
import type { Clock } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";
import type { OutboxPort } from "../../web/ports/operator.ts";
import type { Runtime } from "../runtime.ts";

export interface OutboxPortOptions {
  readonly store: Pick<Store, "outbox" | "transaction">;
  readonly runtime: Pick<Runtime, "current">;
  readonly clock: Clock;
  /** Ids of test notifications, unique over all time. */
  readonly newId: () => string;
  /** Called after something may be delivered again. */
  readonly onChanged: () => void;
}

/** Returns the outbox and the receivers as the HTTP server sees them. */
export function createOutboxPort({ store, runtime, clock, newId, onChanged }: OutboxPortOptions): OutboxPort {
  return {
    list: () => store.outbox.list(),
    waitingWith: (query) => store.outbox.waitingWith(query),
    eventsOf: (ids) => store.outbox.eventsOf(ids),
    retry: async (id, author) => {
      const isChanged = await retryEntry(store, { id, author, nowMs: clock.nowMs() });
      if (isChanged) onChanged();
      return isChanged;
    },
    discard: async (id, author) => {
      const isChanged = await discardEntry(store, { id, author, nowMs: clock.nowMs() });
      // What has waited behind it.
      if (isChanged) onChanged();
      return isChanged;
    },
    receivers: async () => {
      const totals = new Map((await store.outbox.totals()).map((total) => [total.receiver, total]));
      const pauses = await store.outbox.pauses(clock.nowMs());
      return runtime.current().config.receivers.map(({ name, type, minSeverity, sendResolved }) => ({
        name,
        type,
        minSeverity,
        sendResolved,
        pending: totals.get(name)?.pending ?? 0,
        deadLetters: totals.get(name)?.deadLetters ?? 0,
        pausedUntilMs: pauses.get(name) ?? null,
      }));
    },
    test: async (name, author) => {
      const { receivers, config } = runtime.current();
      const found = receivers.find(({ receiver }) => receiver.name === name);
      if (found === undefined) return null;
      const { receiver, timeoutMs } = found;
      const { externalUrl } = config.alerting;
      // A stop of the server waits for it no longer than for any request.
      const signal = new AbortController().signal;
      const sent = await deliverTest(receiver, { clock, newId, timeoutMs, externalUrl, signal });
      await store.transaction(async ({ outbox, audit }) => {
        const nowMs = clock.nowMs();
        const isResumed = await outbox.endPause(name, nowMs);
        const detail = {
          accepted: sent.filter(({ outcome }) => outcome === "accepted").length,
          of: sent.length,
          isResumed,
        };
        await audit.append({ atMs: nowMs, actor: author, action: "receiver.test", slug: null, subject: name, detail });
      });
      onChanged();
      return sent.map(({ recipient, outcome, detail }) => ({ recipient, outcome, detail }));
    },
  };
}
