import { randomUUID } from "node:crypto";

import type { Command } from "commander";

import { deliverTest, type TestDelivery } from "../alerting/deliver/test-delivery.ts";
import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import type { Logger } from "../base/logger.ts";
import { suggest } from "../base/suggestions.ts";
import { endReceiverPause } from "./outbox.ts";
import type { Config } from "../config/config.ts";
import type { PartsDeps } from "../daemon/parts.ts";
import { createReceiver } from "../receivers/receivers.ts";
import { loadCommandConfig } from "./command-config.ts";
import { createCommandLogger } from "./command-logger.ts";
import type { CliContext, RegisterCommand } from "./context.ts";

/** `flatline notify test RECEIVER` */
export const registerNotify: RegisterCommand = (program: Command, context: CliContext): void => {
  const notify = program.command("notify").description("try a receiver");
  notify
    .command("test")
    .description("send a marked test notification to one receiver now, and say what it answered")
    .argument("<receiver>", "name of a receiver of the configuration")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print {receiver, outcome, detail, deliveries}: one delivery for each recipient of a mail")
    .addHelpText(
      "after",
      "\nA pause that the receiver asked for (Retry-After) ends: what waits for it goes out within 5 s." +
        "\n\nExit code: 0 accepted, by every recipient of a mail; 1 not accepted.\n\nExample:\n  flatline notify test trust-slack\n",
    )
    .action(async (name: string, flags: { readonly config?: string; readonly json?: boolean }) => {
      const config = await loadCommandConfig(flags.config, context);
      const logger = createCommandLogger(config, context);
      const sent = await sendTest(config, { ...context, logger }, name);
      context.stdout.write(flags.json === true ? renderJson(name, sent) : renderLines(sent));
      context.setExitCode(sent.every(({ outcome }) => outcome === "accepted") ? 0 : 1);
      await endPause(config, context, name);
    });
};

function renderLines(sent: readonly TestDelivery[]): string {
  const lines = sent.map(({ name, outcome, detail }) => {
    const word = outcome === "accepted" ? "accepted" : "not accepted";
    return `${name}: ${word}, ${detail}\n`;
  });
  return lines.join("");
}

function renderJson(receiver: string, sent: readonly TestDelivery[]): string {
  const deliveries = sent.map(({ recipient, outcome, detail }) => ({ recipient, outcome, detail }));
  const worst = ["rejected", "retry", "accepted"].flatMap((kind) =>
    deliveries.filter(({ outcome }) => outcome === kind),
  );
  return `${JSON.stringify({ receiver, outcome: worst[0]?.outcome, detail: worst[0]?.detail, deliveries })}\n`;
}

/** A person who tests a receiver wants it to be used again. The test counts also where the store cannot be opened from here. */
async function endPause(config: Config, context: CliContext, receiver: string): Promise<void> {
  try {
    const isEnded = await endReceiverPause(config, context, receiver);
    if (isEnded) context.stderr.write(`${receiver} was paused (Retry-After): the pause is ended\n`);
  } catch (error) {
    const { fault, message } = asFlatlineError(error);
    if (fault === "bug") throw error;
    context.stderr.write(`a pause of ${receiver}, if it has one, could not be ended: ${message}\n`);
  }
}

/**
 * Sends a test notification to each recipient of one receiver, bypassing the outbox, and returns the answers (CONTRACT 3,
 * notify test).
 * @throws usage if no receiver has this name
 */
async function sendTest(
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
