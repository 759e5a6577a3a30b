import { FlatlineError } from "../../base/errors.ts";
import { suggest } from "../../base/suggestions.ts";
import type { Clock } from "../../base/time.ts";
import type { NewDeliveryAttempt } from "../../store/alerts/deliveries.ts";
import { deliveryName } from "../../store/alerts/outbox.ts";
import { testIncident, testNotification } from "../notify/test-notification.ts";
import { answeredAttempt } from "./attempt.ts";
import { recipientsOf, type DeliveryOutcome, type Receiver } from "./receiver.ts";

/** The result of a test of a receiver, of one recipient. */
export interface TestDelivery {
  /** For people: the receiver and its recipient. */
  readonly name: string;
  /** null: the receiver has no recipients. */
  readonly recipient: string | null;
  /** Of a sample incident: which of its notifications. */
  readonly event?: "firing" | "resolved";
  readonly outcome: DeliveryOutcome["kind"];
  /** The receiver's answer. */
  readonly detail: string;
  /** As it is kept. */
  readonly attempt: NewDeliveryAttempt;
}

export interface TestOptions {
  /** Whether a sample incident is sent, from firing to resolved, in place of a test [it is not]. */
  readonly isIncident?: boolean;
  readonly clock: Pick<Clock, "nowMs" | "timeout">;
  readonly newId: () => string;
  /** Timeout of each delivery. */
  readonly timeoutMs: number;
  readonly externalUrl: string | null;
  readonly signal: AbortSignal;
}

// As many as the outbox sends: a mail server may accept no more connections.
const deliveriesAtOnce = 4;

/** Sends a test notification, or a sample incident, to each recipient of the receiver, bypassing the outbox, and returns the answers. */
export async function deliverTest(receiver: Receiver, options: TestOptions): Promise<readonly TestDelivery[]> {
  const { clock, newId, timeoutMs, externalUrl, isIncident = false } = options;
  const { name } = receiver;
  async function sendTo(recipient: string | null): Promise<TestDelivery[]> {
    const nowMs = clock.nowMs();
    const subject = { receiver: name, nowMs, externalUrl };
    const notifications = isIncident
      ? testIncident({ ...subject, newId })
      : [testNotification({ ...subject, id: newId() })];
    const answers: TestDelivery[] = [];
    // The end is sent in any case: what gave no answer in time may have been accepted.
    for (const notification of notifications) {
      const signal = clock.timeout(timeoutMs, options.signal);
      const startedAtMs = clock.nowMs();
      const outcome = await receiver.deliver(notification, { signal, nowMs, recipient });
      const atMs = clock.nowMs();
      const attempt = answeredAttempt(notification, recipient, outcome, { atMs, tookMs: atMs - startedAtMs });
      const event = isIncident ? { event: notification.status } : {};
      const answer = { outcome: outcome.kind, detail: attempt.detail, attempt };
      answers.push({ name: deliveryName(name, recipient), recipient, ...event, ...answer });
    }
    return answers;
  }
  const recipients = recipientsOf(receiver);
  const sent: TestDelivery[] = [];
  for (let start = 0; start < recipients.length; start += deliveriesAtOnce)
    sent.push(...(await Promise.all(recipients.slice(start, start + deliveriesAtOnce).map(sendTo))).flat());
  return sent;
}

/** Returns the error of a name that no receiver has. */
export function unknownReceiver(name: string, receivers: readonly { readonly name: string }[]): FlatlineError {
  const known = receivers.map((receiver) => receiver.name);
  const hint =
    suggest(name, known) || (known.length === 0 ? "; none is configured" : `; the receivers are ${known.join(", ")}`);
  return new FlatlineError("not_found", `no receiver has the name ${JSON.stringify(name)}${hint}`);
}
