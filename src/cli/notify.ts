import type { Command } from "commander";
import { endReceiverPause } from "../commands/outbox.ts";
import { sendTest } from "../commands/test-delivery.ts";
import { asFlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
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

type TestDelivery = Awaited<ReturnType<typeof sendTest>>[number];

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
