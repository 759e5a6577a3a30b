import { FlatlineError } from "../../base/errors.ts";
import type { Action, Actor } from "../../contract/actor.ts";
import { deliveryName, type Address } from "../../store/alerts/outbox.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Notification } from "../notify/notification.ts";
import type { Store } from "../../store/store.ts";

/** An act of a person on an outbox entry. */
export interface OutboxAct {
  readonly id: string;
  readonly author: Actor;
  readonly nowMs: number;
}

/** Makes an entry due now. @throws FlatlineError not_found; conflict: in delivery, or a later one was accepted */
export function retryEntry(store: Pick<Store, "transaction">, act: OutboxAct): Promise<void> {
  return change(store, act, "outbox.retry", async ({ outbox, queued }) => {
    const outcome = await outbox.retry(act.id, act.nowMs);
    if (outcome.kind !== "queued") throw refusals[outcome.kind]();
    const notification = readNotification(outcome.payload);
    await queued.goForward(notification);
    return notification;
  });
}

const refusals = {
  under_way: () => new FlatlineError("conflict", "this notification is being delivered at this moment"),
  followed: () =>
    new FlatlineError(
      "conflict",
      "the receiver has accepted a later notification of this incident, which this one would contradict",
    ),
  unknown: () => new FlatlineError("not_found", "no notification that waits or gave up has this id"),
};

/** Deletes an entry as not delivered; one in delivery may still arrive. @throws FlatlineError not_found */
export function discardEntry(store: Pick<Store, "transaction">, act: OutboxAct): Promise<void> {
  return change(store, act, "outbox.discard", async ({ outbox, queued }) => {
    const payload = await outbox.discard(act.id);
    if (payload === null) throw refusals.unknown();
    const notification = readNotification(payload);
    await queued.goBack(notification, act.nowMs);
    return notification;
  });
}

function change(
  store: Pick<Store, "transaction">,
  { id, author, nowMs }: OutboxAct,
  action: Action,
  work: (parts: Pick<StoreParts, "outbox" | "queued">) => Promise<Address>,
): Promise<void> {
  return store.transaction(async (parts) => {
    const { receiver, recipient } = await work(parts);
    const detail = { receiver: deliveryName(receiver, recipient) };
    await parts.audit.append({ atMs: nowMs, actor: author, action, slug: null, subject: id, detail });
  });
}

/** Parses the payload that the notifier wrote in the same schema version. */
export function readNotification(payload: string): Notification {
  return JSON.parse(payload) as Notification;
}
