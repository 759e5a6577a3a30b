import { FlatlineError } from "../../base/errors.ts";
import { suggest } from "../../base/suggestions.ts";
import type { Clock } from "../../base/time.ts";
import { deliveryName } from "../../store/alerts/outbox-entry.ts";
import { testNotification } from "../notify/test-notification.ts";
import { recipientsOf, type DeliveryOutcome, type Receiver } from "./receiver.ts";

/** The result of a test of a receiver, of one recipient. */
export interface TestDelivery {
  /** For people: the receiver and its recipient. */
  readonly name: string;
  /** null: the receiver has no recipients. */
  readonly recipient: string | null;
  readonly outcome: DeliveryOutcome["kind"];
  /** The receiver's answer. */
  readonly detail: string;
}

export interface TestOptions {
  readonly clock: Pick<Clock, "nowMs" | "timeout">;
  readonly newId: () => string;
  /** Timeout of each delivery. */
  readonly timeoutMs: number;
  readonly externalUrl: string | null;
  readonly signal: AbortSignal;
}

// As many as the outbox sends: a mail server may accept no more connections.
const deliveriesAtOnce = 4;

/** Sends a test notification to each recipient of the receiver, bypassing the outbox, and returns the answers. */
export async function deliverTest(receiver: Receiver, options: TestOptions): Promise<readonly TestDelivery[]> {
  const { clock, newId, timeoutMs, externalUrl } = options;
  const { name } = receiver;
  async function sendTo(recipient: string | null): Promise<TestDelivery> {
    const nowMs = clock.nowMs();
    const notification = testNotification({ id: newId(), receiver: name, nowMs, externalUrl });
    const signal = clock.timeout(timeoutMs, options.signal);
    const outcome = await receiver.deliver(notification, { signal, nowMs, recipient });
    const detail = outcome.kind === "accepted" ? outcome.detail : outcome.error;
    return { name: deliveryName(name, recipient), recipient, outcome: outcome.kind, detail };
  }
  const recipients = recipientsOf(receiver);
  const sent: TestDelivery[] = [];
  for (let start = 0; start < recipients.length; start += deliveriesAtOnce)
    sent.push(...(await Promise.all(recipients.slice(start, start + deliveriesAtOnce).map(sendTo))));
  return sent;
}

/** Returns the error of a name that no receiver has. */
export function unknownReceiver(name: string, receivers: readonly { readonly name: string }[]): FlatlineError {
  const known = receivers.map((receiver) => receiver.name);
  const hint =
    suggest(name, known) || (known.length === 0 ? "; none is configured" : `; the receivers are ${known.join(", ")}`);
  return new FlatlineError("not_found", `no receiver has the name ${JSON.stringify(name)}${hint}`);
}
