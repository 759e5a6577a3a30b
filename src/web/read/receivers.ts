import type { DeliveryAttempt } from "../../store/alerts/deliveries.ts";
import { deliveryName, type OutboxEntry } from "../../store/alerts/outbox.ts";
import type { PageReading } from "./page.ts";
import type { OutboxReading } from "./outbox.ts";

/** One receiver with what it has accepted and refused. Times are epoch ms. */
export interface ReceiverRow {
  readonly name: string;
  readonly type: string;
  readonly minSeverity: string;
  readonly waiting: number;
  /** Something that waits was tried, and not accepted. */
  readonly isRefusing: boolean;
  readonly oldestMs: number | null;
  readonly lastDelivered: { readonly atMs: number; readonly tookMs: number } | null;
  readonly lastError: { readonly atMs: number; readonly text: string } | null;
  readonly deadLetters: number;
  /** Until when it asked to be left alone; null: it did not. */
  readonly pausedUntilMs: number | null;
}

/** One notification that was not accepted yet, or never will be. */
export interface OutboxRow {
  readonly id: string;
  /** And which of its recipients. */
  readonly receiver: string;
  readonly isDead: boolean;
  readonly createdAtMs: number;
  readonly nextAttemptAtMs: number;
  readonly attempts: number;
  readonly lastError: string | null;
  /** What it is about, in words. */
  readonly about: string;
  readonly event: string;
}

/** Returns ok, warn while it refuses or is paused, fail where something gave up. */
export function receiverState({ deadLetters, isRefusing, pausedUntilMs }: ReceiverRow): "ok" | "warn" | "fail" {
  if (deadLetters > 0) return "fail";
  return isRefusing || pausedUntilMs !== null ? "warn" : "ok";
}

/** Reads what each receiver has accepted and refused, in the order of the configuration. `entries` is the whole outbox. */
export async function readReceiverRows({
  outbox,
  page,
  entries,
}: {
  readonly outbox: OutboxReading;
  readonly page: Pick<PageReading, "lastDelivery">;
  readonly entries: readonly OutboxEntry[];
}): Promise<ReceiverRow[]> {
  const rows: ReceiverRow[] = [];
  for (const view of await outbox.receivers()) {
    const good = await page.lastDelivery(view.name, true);
    const bad = await page.lastDelivery(view.name, false);
    const stored = entries.findLast(({ receiver, lastError }) => receiver === view.name && lastError !== null);
    const waiting = entries.filter(({ receiver, state }) => receiver === view.name && state !== "dead");
    const oldestMs = waiting.length === 0 ? null : Math.min(...waiting.map(({ createdAtMs }) => createdAtMs));
    const known = stored === undefined ? null : { atMs: stored.createdAtMs, text: stored.lastError ?? "" };
    rows.push({
      name: view.name,
      type: view.type,
      minSeverity: view.minSeverity,
      waiting: view.pending,
      isRefusing: waiting.some(({ lastError }) => lastError !== null),
      oldestMs,
      lastDelivered: good === null ? null : { atMs: good.atMs, tookMs: good.tookMs },
      lastError: bad === null ? known : { atMs: bad.atMs, text: lastErrorText(bad) },
      deadLetters: view.deadLetters,
      pausedUntilMs: view.pausedUntilMs,
    });
  }
  return rows;
}

function lastErrorText({ recipient, detail }: DeliveryAttempt): string {
  return recipient === null ? detail : `${recipient}: ${detail}`;
}

/** Returns an entry of the outbox in words; `event` is what happened. */
export function outboxRow(entry: OutboxEntry, event: string): OutboxRow {
  const { id, receiver, recipient, state, attempts, createdAtMs, nextAttemptAtMs, lastError, incident } = entry;
  return {
    id,
    receiver: deliveryName(receiver, recipient),
    isDead: state === "dead",
    createdAtMs,
    nextAttemptAtMs,
    attempts,
    lastError,
    about: incident === null ? "a notification" : `incident ${incident}`,
    event,
  };
}
