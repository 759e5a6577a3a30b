import { deliverTest } from "../../alerting/deliver/test-delivery.ts";
import type { OutboxAct } from "../../alerting/deliver/outbox-acts.ts";
import type { Store } from "../../store/store.ts";
import type { Actor } from "../../contract/actor.ts";
import type { OutboxEntry } from "../../store/alerts/outbox.ts";
import type { Running } from "./running.ts";

/** A receiver without its address, which is a secret. Times are epoch ms. */
export type ReceiverRow = Awaited<ReturnType<typeof readReceivers>>[number];

/** Reads the state of each receiver, in the configuration's order. */
export async function readReceivers({ store, config, clock }: Running, entries: readonly OutboxEntry[]) {
  const pauses = await store.outbox.pauses(clock.nowMs());
  const byReceiver = Map.groupBy(entries, ({ receiver }) => receiver);
  const rows = [];
  for (const { name, type, minSeverity, sendResolved } of config().receivers) {
    const own = byReceiver.get(name) ?? [];
    const waiting = own.filter(({ state }) => state !== "dead");
    const deadLetters = own.length - waiting.length;
    const pausedUntilMs = pauses.get(name) ?? null;
    const isHeldUp = pausedUntilMs !== null || waiting.some(({ lastError }) => lastError !== null);
    const unlost = isHeldUp ? ("warn" as const) : ("ok" as const);
    const bad = await store.deliveries.last(name, false);
    const stored = own.findLast(({ lastError }) => lastError !== null);
    const answered = bad && {
      atMs: bad.atMs,
      text: bad.recipient === null ? bad.detail : `${bad.recipient}: ${bad.detail}`,
    };
    rows.push({
      name,
      type,
      minSeverity,
      sendResolved,
      /** fail: it gave up a notification; warn: it refuses them, or is paused. */
      state: deadLetters > 0 ? ("fail" as const) : unlost,
      pending: waiting.length,
      deadLetters,
      /** The end of the pause that it asked for (Retry-After); null: none. */
      pausedUntilMs,
      oldestMs: waiting.length === 0 ? null : Math.min(...waiting.map(({ createdAtMs }) => createdAtMs)),
      lastDelivered: await store.deliveries.last(name, true),
      lastError: answered ?? (stored === undefined ? null : { atMs: stored.createdAtMs, text: stored.lastError ?? "" }),
    });
  }
  return rows;
}

// The last hours of a busy fleet; the store has more.
const shownDeliveries = 50;

/** Reads the receivers with what they got, and what they did not get. */
export async function readDeliveries(running: Running) {
  const { outbox, deliveries } = running.store;
  const entries = await outbox.list();
  return {
    receivers: await readReceivers(running, entries),
    outbox: entries,
    /** The event of each notification, by its id in the outbox. */
    events: await outbox.eventsOf(entries.map(({ id }) => id)),
    attempts: await deliveries.latest(shownDeliveries),
    nowMs: running.clock.nowMs(),
  };
}

/** Retries or discards an entry of the outbox; entries that waited behind it may be due then. @throws as `act` */
export async function changeOutbox(
  { store, clock, onAct }: Pick<Running, "store" | "clock" | "onAct">,
  act: (store: Store, act: OutboxAct) => Promise<void>,
  asked: Pick<OutboxAct, "id" | "author">,
): Promise<void> {
  await act(store, { ...asked, nowMs: clock.nowMs() });
  onAct();
}

/** Sends a test or a sample incident to each recipient of a receiver, and ends its pause; null: unknown receiver. */
export async function testReceiver(running: Running, name: string, author: Actor, isIncident = false) {
  const { store, clock, newId } = running;
  const found = running.receivers().find(({ receiver }) => receiver.name === name);
  if (found === undefined) return null;
  const { externalUrl } = running.config().alerting;
  const sent = await deliverTest(found, { clock, newId, externalUrl, isIncident });
  await store.transaction(async ({ outbox, deliveries, audit }) => {
    await deliveries.add(sent.map(({ attempt }) => attempt));
    const nowMs = clock.nowMs();
    const isResumed = await outbox.endPause(name, nowMs);
    const accepted = sent.filter(({ outcome }) => outcome === "accepted").length;
    const detail = { accepted, of: sent.length, isResumed };
    await audit.append({ atMs: nowMs, actor: author, action: "receiver.test", slug: null, subject: name, detail });
  });
  running.onAct();
  return sent.map(({ attempt: _attempt, ...delivery }) => delivery);
}
