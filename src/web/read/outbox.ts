import { discardEntry, retryEntry } from "../../alerting/deliver/outbox-acts.ts";
import { deliverTest } from "../../alerting/deliver/test-delivery.ts";
import type { Actor } from "../../contract/actor.ts";
import type { OutboxStore } from "../../store/alerts/outbox.ts";
import type { Running } from "./running.ts";

/** A receiver, without its address, which is a secret. */
export interface ReceiverView {
  readonly name: string;
  readonly type: string;
  readonly minSeverity: string;
  readonly sendResolved: boolean;
  readonly pending: number;
  readonly deadLetters: number;
  /** Until when it asked to be left alone (Retry-After); null: it did not. */
  readonly pausedUntilMs: number | null;
}

/** The outbox and the receivers, with the acts of people on them. */
export type OutboxReading = ReturnType<typeof createOutboxReading>;

/** Returns the outbox and the receivers over what runs. */
export function createOutboxReading(running: Running) {
  const { store, clock, newId, onOutboxChanged: onChanged } = running;
  return {
    list: () => store.outbox.list(),
    eventsOf: (ids: Parameters<OutboxStore["eventsOf"]>[0]) => store.outbox.eventsOf(ids),
    /** @throws as retryEntry */
    retry: async (id: string, author: Actor): Promise<void> => {
      await retryEntry(store, { id, author, nowMs: clock.nowMs() });
      onChanged();
    },
    /** @throws as discardEntry */
    discard: async (id: string, author: Actor): Promise<void> => {
      await discardEntry(store, { id, author, nowMs: clock.nowMs() });
      // What has waited behind it.
      onChanged();
    },
    receivers: async (): Promise<readonly ReceiverView[]> => {
      const totals = new Map((await store.outbox.totals()).map((total) => [total.receiver, total]));
      const pauses = await store.outbox.pauses(clock.nowMs());
      return running.config().receivers.map(({ name, type, minSeverity, sendResolved }) => ({
        name,
        type,
        minSeverity,
        sendResolved,
        pending: totals.get(name)?.pending ?? 0,
        deadLetters: totals.get(name)?.deadLetters ?? 0,
        pausedUntilMs: pauses.get(name) ?? null,
      }));
    },
    /** Sends a test, or a sample incident, to each recipient of a receiver now, and ends a pause that it asked for. null: no such receiver. */
    test: async (name: string, author: Actor, isIncident = false) => {
      const found = running.receivers().find(({ receiver }) => receiver.name === name);
      if (found === undefined) return null;
      const { externalUrl } = running.config().alerting;
      const sent = await deliverTest(found, { clock, newId, externalUrl, isIncident });
      await store.transaction(async ({ outbox, deliveries, audit }) => {
        await deliveries.add(sent.map(({ attempt }) => attempt));
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
      return sent.map(({ attempt: _attempt, ...delivery }) => delivery);
    },
  };
}
