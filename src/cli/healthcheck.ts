import type { Command } from "commander";
import { askHealthy } from "../commands/ask-healthy.ts";
import { FlatlineError } from "../base/errors.ts";
import { escapeControls } from "../base/unseen-text.ts";
import { findConfigPath, loadClientConfig } from "../config/load.ts";
import type { CliContext, RegisterCommand } from "./context.ts";

// The image's default, where the container has no configuration that says otherwise.
const defaultListen = "127.0.0.1:9640";

/** `flatline healthcheck`: for a container's HEALTHCHECK, where no shell and no curl are needed. */
export const registerHealthcheck: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("healthcheck")
    .description("ask the running daemon's /-/healthy; exit 0 when it is healthy, else 1")
    .option("-c, --config <file>", "configuration file, for server.listen")
    .addHelpText("after", '\nExample:\n  HEALTHCHECK CMD ["flatline", "healthcheck"]\n')
    .action(async (flags: { readonly config?: string }) => {
      const listen = await listenAddress(flags.config, context);
      const { isHealthy, message } = await askHealthy(listen, context);
      if (isHealthy) context.stdout.write(`${message}\n`);
      else context.stderr.write(`flatline: ${escapeControls(message)}\n`);
      context.setExitCode(isHealthy ? 0 : 1);
    });
};

/** A configuration that is broken since the start does not make the running daemon sick. */
async function listenAddress(flag: string | undefined, context: CliContext): Promise<string> {
  try {
    const { env, cwd } = context;
    return (await loadClientConfig({ path: await findConfigPath({ flag, env, cwd }), cwd, env }, ["listen"])).listen;
  } catch (error) {
    if (!(error instanceof FlatlineError)) throw error;
    return context.env["FLATLINE_LISTEN"] ?? defaultListen;
  }
}
