import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import type { OutboxEntry } from "../../../store/alerts/outbox-entry.ts";
import type { OutboxPort } from "../../ports/operator.ts";
import type { PagePort } from "../ports.ts";
import type { ReceiverRow } from "./receivers.ts";

/** Reads what each receiver has accepted and refused, in the order of the configuration. `entries` is the whole outbox. */
export async function readReceiverRows({
  outbox,
  page,
  entries,
}: {
  readonly outbox: OutboxPort;
  readonly page: Pick<PagePort, "lastDelivery">;
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
