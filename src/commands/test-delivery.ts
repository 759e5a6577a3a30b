import { randomUUID } from "node:crypto";
import type { DeliveryOutcome } from "../alerting/deliver/receiver.ts";
import { testNotification } from "../alerting/notify/test-notification.ts";
import { FlatlineError } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { suggest } from "../base/suggestions.ts";
import { createReceiver } from "../receivers/create-receiver.ts";
import type { PartsDeps } from "../daemon/parts.ts";

/**
 * Sends a marked test notification to one receiver now, past the outbox, and answers what it said (CONTRACT 3, notify test).
 * @throws usage when no receiver has this name
 */
export async function sendTest(
  config: Config,
  deps: PartsDeps & { readonly logger: Logger; readonly signal: AbortSignal },
  name: string,
): Promise<DeliveryOutcome> {
  const receiver = config.receivers.find((candidate) => candidate.name === name);
  if (receiver === undefined) {
    const known = config.receivers.map((candidate) => candidate.name);
    const hint =
      suggest(name, known) || (known.length === 0 ? "; none is configured" : `; there are ${known.join(", ")}`);
    throw new FlatlineError("usage", `no receiver is named ${JSON.stringify(name)}${hint}`);
  }
  const dispatcher = createHttpDispatcher({ env: deps.env });
  try {
    const nowMs = deps.clock.nowMs();
    const { externalUrl } = config.alerting;
    const notification = testNotification({ id: randomUUID(), receiver: name, nowMs, externalUrl });
    const signal = deps.clock.timeout(receiver.timeoutMs, deps.signal);
    return await createReceiver(receiver, { dispatcher, logger: deps.logger }).deliver(notification, { signal, nowMs });
  } finally {
    await dispatcher.destroy();
  }
}
