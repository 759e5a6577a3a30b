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

/** What became of a test. */
export interface TestDelivery {
  /** For people: the receiver, and which of its recipients. */
  readonly name: string;
  /** null: the receiver is one. */
  readonly recipient: string | null;
  readonly outcome: DeliveryOutcome["kind"];
  /** What the receiver said. */
  readonly detail: string;
}

// As the outbox has them under way: a mail server may take no more connections.
const deliveriesAtOnce = 4;

/**
 * Sends a marked test notification to each recipient of one receiver now, past the outbox, and answers what it said (CONTRACT
 * 3, notify test). @throws usage when no receiver has this name
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
      suggest(name, known) || (known.length === 0 ? "; none is configured" : `; there are ${known.join(", ")}`);
    throw new FlatlineError("usage", `no receiver is named ${JSON.stringify(name)}${hint}`);
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
