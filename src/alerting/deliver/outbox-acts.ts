import { FlatlineError } from "../../base/errors.ts";
import type { Action, Actor } from "../../contract/actor.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { OutboxEntryAnswer } from "../../contract/v1/operator.ts";
import type { OutboxEntry } from "../../store/alerts/outbox-entry.ts";
import type { OutboxStore } from "../../store/alerts/outbox.ts";
import type { Store } from "../../store/store.ts";

/** What a person can do with an entry of the outbox. */
export interface OutboxAct {
  readonly id: string;
  readonly author: Actor;
  readonly nowMs: number;
}

/** Queues it again, due now. False: no such entry, or its delivery is in flight. */
export function retryEntry(store: Pick<Store, "transaction">, act: OutboxAct): Promise<boolean> {
  return change(store, act, "outbox.retry", (outbox) => outbox.retry(act.id, act.nowMs));
}

/** Deletes it for good. False: no such entry, or its delivery is in flight. */
export function discardEntry(store: Pick<Store, "transaction">, act: OutboxAct): Promise<boolean> {
  return change(store, act, "outbox.discard", (outbox) => outbox.discard(act.id));
}

/** Goes on with what waits for a receiver that asked to be left alone. False: it did not ask. */
export function endPause(
  store: Pick<Store, "transaction">,
  { receiver, author, nowMs }: { readonly receiver: string } & Pick<OutboxAct, "author" | "nowMs">,
): Promise<boolean> {
  return store.transaction(async ({ outbox, audit }) => {
    const isEnded = await outbox.endPause(receiver, nowMs);
    if (isEnded)
      await audit.append({ atMs: nowMs, actor: author, action: "outbox.resume", slug: null, subject: receiver });
    return isEnded;
  });
}

function change(
  store: Pick<Store, "transaction">,
  { id, author, nowMs }: OutboxAct,
  action: Action,
  work: (outbox: OutboxStore) => Promise<boolean>,
): Promise<boolean> {
  return store.transaction(async ({ outbox, audit }) => {
    const receiver = await outbox.addresseeOf(id);
    if (receiver === null || !(await work(outbox))) return false;
    const detail = { receiver };
    await audit.append({ atMs: nowMs, actor: author, action, slug: null, subject: id, detail });
    return true;
  });
}

/** Puts a notification of the outbox as the API answers it. */
export function viewOutboxEntry({ createdAtMs, nextAttemptAtMs, ...entry }: OutboxEntry): OutboxEntryAnswer {
  const nextAttemptAt = entry.state === "dead" ? null : iso(nextAttemptAtMs);
  return { ...entry, createdAt: iso(createdAtMs), nextAttemptAt };
}

/** Returns the error of an act on a notification that changed nothing, with the entries that there are. */
export function unchangedEntry(id: string, entries: readonly OutboxEntry[]): FlatlineError {
  if (entries.some((entry) => entry.id === id))
    return new FlatlineError("conflict", "this notification is being delivered at this moment");
  return new FlatlineError("not_found", "no notification that waits, and no dead letter, has this id");
}
