import { randomUUID } from "node:crypto";
import { deliverTest, type TestDelivery } from "../alerting/deliver/test-delivery.ts";
import { FlatlineError } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { suggest } from "../base/suggestions.ts";
import { createReceiver } from "../receivers/receivers.ts";
import type { PartsDeps } from "../daemon/parts.ts";

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
  try {
    const created = createReceiver(receiver, { dispatcher, logger: deps.logger });
    const { timeoutMs } = receiver;
    const { externalUrl } = config.alerting;
    return await deliverTest(created, { ...deps, newId: randomUUID, timeoutMs, externalUrl });
  } finally {
    await dispatcher.destroy();
  }
}
