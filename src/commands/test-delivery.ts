import { randomUUID } from "node:crypto";
import { recipientsOf, type DeliveryOutcome, type Receiver } from "../alerting/deliver/receiver.ts";
import { testNotification } from "../alerting/notify/test-notification.ts";
import { FlatlineError } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { suggest } from "../base/suggestions.ts";
import { createReceiver } from "../receivers/create-receiver.ts";
import { deliveryName } from "../store/alerts/outbox.ts";
import type { PartsDeps } from "../daemon/parts.ts";

/** The result of a test. */
export interface TestDelivery {
  /** For people: the receiver and its recipient. */
  readonly name: string;
  /** null: the receiver has no recipients. */
  readonly recipient: string | null;
  readonly outcome: DeliveryOutcome["kind"];
  /** The receiver's answer. */
  readonly detail: string;
}

// As many as the outbox sends: a mail server may accept no more connections.
const deliveriesAtOnce = 4;

/**
 * Sends a test notification to each recipient of one receiver, bypassing the outbox, and returns the answers (CONTRACT 3,
 * notify test).
 * @throws usage if no receiver has this name
 */
export async function sendTest(
  config: Config,
  deps: PartsDeps & { readonly logger: Logger; readonly signal: AbortSignal },
  name: string,
): Promise<readonly TestDelivery[]> {
  const receiver = config.receivers.find((candidate) => candidate.name === name);
  if (receiver === undefined) {
    const known = config.receivers.map((candidate) => candidate.name);
    const hint =
      suggest(name, known) || (known.length === 0 ? "; none is configured" : `; the receivers are ${known.join(", ")}`);
    throw new FlatlineError("usage", `no receiver has the name ${JSON.stringify(name)}${hint}`);
  }
  const dispatcher = createHttpDispatcher({ env: deps.env });
  const { externalUrl } = config.alerting;
  async function sendTo(recipient: string | null, to: Receiver, timeoutMs: number): Promise<TestDelivery> {
    const nowMs = deps.clock.nowMs();
    const notification = testNotification({ id: randomUUID(), receiver: name, nowMs, externalUrl });
    const signal = deps.clock.timeout(timeoutMs, deps.signal);
    const outcome = await to.deliver(notification, { signal, nowMs, recipient });
    const detail = outcome.kind === "accepted" ? outcome.detail : outcome.error;
    return { name: deliveryName(name, recipient), recipient, outcome: outcome.kind, detail };
  }
  try {
    const created = createReceiver(receiver, { dispatcher, logger: deps.logger });
    const recipients = recipientsOf(created);
    const sent: TestDelivery[] = [];
    for (let start = 0; start < recipients.length; start += deliveriesAtOnce) {
      const some = recipients.slice(start, start + deliveriesAtOnce);
      sent.push(...(await Promise.all(some.map((recipient) => sendTo(recipient, created, receiver.timeoutMs)))));
    }
    return sent;
  } finally {
    await dispatcher.destroy();
  }
}
