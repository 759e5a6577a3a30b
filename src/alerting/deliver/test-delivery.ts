import { FlatlineError } from "../../base/errors.ts";
import { suggest } from "../../base/suggestions.ts";
import type { Clock } from "../../base/time.ts";
import { testIncident, testNotification } from "../notify/test-notification.ts";
import { answeredAttempt, sendOnce, type OutboxReceiver } from "./attempt.ts";
import { recipientsOf } from "./receiver.ts";

/** The answer of one recipient to a test. */
export type TestedDelivery = Awaited<ReturnType<typeof deliverTest>>[number];

export interface TestOptions {
  /** Sends a sample incident, from firing to resolved, and not a test. */
  readonly isIncident: boolean;
  readonly clock: Pick<Clock, "nowMs" | "timeout">;
  readonly newId: () => string;
  readonly externalUrl: string | null;
}

// The outbox's number too: a mail server may accept no more connections.
const deliveriesAtOnce = 4;

/** Sends a test or a sample incident to each recipient, without the outbox. Returns the answers. */
export async function deliverTest(
  { receiver, timeoutMs }: OutboxReceiver,
  { clock, newId, externalUrl, isIncident }: TestOptions,
) {
  async function sendTo(recipient: string | null) {
    const nowMs = clock.nowMs();
    const subject = { receiver: receiver.name, recipient, nowMs, externalUrl };
    const notifications = isIncident
      ? testIncident({ ...subject, newId })
      : [testNotification({ ...subject, id: newId() })];
    const answers = [];
    // The end is sent always: a notification without an answer may have been accepted.
    for (const notification of notifications) {
      const startedAtMs = clock.nowMs();
      // A stop of the server does not wait longer for it than for other requests.
      const outcome = await sendOnce(receiver, notification, { signal: clock.timeout(timeoutMs), nowMs });
      const atMs = clock.nowMs();
      const attempt = answeredAttempt(notification, outcome, { atMs, tookMs: atMs - startedAtMs });
      const event = isIncident ? { event: notification.status } : {};
      answers.push({ recipient, ...event, outcome: outcome.kind, detail: attempt.detail, attempt });
    }
    return answers;
  }
  const recipients = recipientsOf(receiver);
  const sent = [];
  for (let start = 0; start < recipients.length; start += deliveriesAtOnce)
    sent.push(...(await Promise.all(recipients.slice(start, start + deliveriesAtOnce).map(sendTo))).flat());
  return sent;
}

export function unknownReceiver(name: string, receivers: readonly { readonly name: string }[]): FlatlineError {
  const known = receivers.map((receiver) => receiver.name);
  const hint =
    suggest(name, known) || (known.length === 0 ? "; none is configured" : `; the receivers are ${known.join(", ")}`);
  return new FlatlineError("not_found", `no receiver has the name ${JSON.stringify(name)}${hint}`);
}
