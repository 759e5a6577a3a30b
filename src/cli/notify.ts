import type { Command } from "commander";
import { endReceiverPause } from "../commands/outbox.ts";
import { sendTest } from "../commands/test-delivery.ts";
import { asFlatlineError } from "../base/errors.ts";
import { createLogger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { loadCommandConfig } from "./command-config.ts";
import { hasColour, type CliContext, type RegisterCommand } from "./context.ts";

/** `flatline notify test RECEIVER` */
export const registerNotify: RegisterCommand = (program: Command, context: CliContext): void => {
  const notify = program.command("notify").description("try a receiver");
  notify
    .command("test")
    .description("send a marked test notification to one receiver now, and say what it answered")
    .argument("<receiver>", "name of a receiver of the configuration")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print {receiver, outcome, detail}")
    .addHelpText(
      "after",
      "\nA pause that the receiver asked for (Retry-After) ends: what waits for it goes out within 5 s." +
        "\n\nExit code: 0 accepted, 1 not accepted.\n\nExample:\n  flatline notify test trust-slack\n",
    )
    .action(async (name: string, flags: { readonly config?: string; readonly json?: boolean }) => {
      const config = await loadCommandConfig(flags.config, context);
      const logger = createLogger({
        level: "info",
        format: config.log.format,
        write: (line) => context.stderr.write(line),
        colour: hasColour(context.stderr, context.env),
      });
      const outcome = await sendTest(config, { ...context, logger }, name);
      const detail = outcome.kind === "accepted" ? outcome.detail : outcome.error;
      const text =
        flags.json === true
          ? JSON.stringify({ receiver: name, outcome: outcome.kind, detail })
          : `${name}: ${outcome.kind === "accepted" ? "accepted" : "not accepted"}, ${detail}`;
      context.stdout.write(`${text}\n`);
      context.setExitCode(outcome.kind === "accepted" ? 0 : 1);
      await endPause(config, context, name);
    });
};

/** Whoever tries a receiver wants it to be used again. The test counts also where the store cannot be opened from here. */
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
