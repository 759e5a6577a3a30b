import type { Command } from "commander";
import { sendTest } from "../commands/test-delivery.ts";
import { createLogger } from "../base/logger.ts";
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
    .addHelpText("after", "\nExit code: 0 accepted, 1 not accepted.\n\nExample:\n  flatline notify test trust-slack\n")
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
    });
};
