import type { Command } from "commander";

import { FlatlineError, messageOf } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { sendRequest } from "../base/http.ts";
import type { Clock } from "../base/time.ts";
import { escapeControls } from "../base/unseen-text.ts";
import { daemonUrl } from "./daemon-address.ts";
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

const timeoutMs = 4_000;
const maxBodyBytes = 64 * 1024;
// A container's health log keeps 4,096 bytes of an answer.
const maxShownCharacters = 2_000;
const whereItAsks =
  "The address is server.listen of the configuration (-c), which is the daemon's, else $FLATLINE_LISTEN";

/** Returns the health of the daemon that listens at `listen` (host:port). Never rejects: no answer means unhealthy. */
async function askHealthy(
  listen: string,
  { clock }: { readonly clock: Clock },
): Promise<{ readonly isHealthy: boolean; readonly message: string }> {
  const url = `${daemonUrl(listen)}/-/healthy`;
  // Never through a proxy: the address is this machine.
  const dispatcher = createHttpDispatcher({ env: {} });
  try {
    const request = { method: "GET", url, headers: {}, signal: clock.timeout(timeoutMs), maxBodyBytes };
    const { status, body } = await sendRequest(dispatcher, request);
    const answer = body.trim();
    if (status === 200) return { isHealthy: true, message: answer };
    return { isHealthy: false, message: `${url} answers ${status}: ${answer.slice(0, maxShownCharacters)}` };
  } catch (error) {
    const reason = messageOf(error);
    return { isHealthy: false, message: `no answer from ${url}: ${reason}. Is the daemon running? ${whereItAsks}` };
  } finally {
    await dispatcher.destroy();
  }
}
