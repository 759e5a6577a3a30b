import type { Command } from "commander";

import { FlatlineError, messageOf } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { escapeControls } from "../base/unseen-text.ts";
import { findConfigPath, loadClientConfig } from "../config/load.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { askHealthy, daemonUrl } from "./door.ts";

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
      const url = daemonUrl(await listenAddress(flags.config, context));
      // Never through a proxy: the address is this machine.
      const dispatcher = createHttpDispatcher({ env: {} });
      const problem = await askHealthy(url, dispatcher, context.clock.timeout(timeoutMs)).then(
        ({ status, body }) => {
          if (status !== 200) return `${url}/-/healthy answers ${status}: ${body.trim().slice(0, maxShownCharacters)}`;
          context.stdout.write(`${body.trim()}\n`);
          return null;
        },
        (error: unknown) =>
          `no answer from ${url}/-/healthy: ${messageOf(error)}. Is the daemon running? ${whereItAsks}`,
      );
      await dispatcher.destroy();
      if (problem === null) return;
      context.stderr.write(`flatline: ${escapeControls(problem)}\n`);
      context.setExitCode(1);
    });
};

const timeoutMs = 4_000;
// A container's health log keeps 4,096 bytes of an answer.
const maxShownCharacters = 2_000;
const whereItAsks =
  "The address is server.listen of the configuration (-c), which is the daemon's, else $FLATLINE_LISTEN";

/** A configuration that is broken since the start does not make the running daemon sick. */
async function listenAddress(flag: string | undefined, { env, cwd }: CliContext): Promise<string> {
  try {
    return (await loadClientConfig({ path: findConfigPath({ flag, env, cwd }), cwd, env }, ["listen"])).listen;
  } catch (error) {
    if (!(error instanceof FlatlineError)) throw error;
    return env["FLATLINE_LISTEN"] ?? defaultListen;
  }
}
