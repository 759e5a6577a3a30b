import { FlatlineError, messageOf } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { escapeControls } from "../base/outside-text.ts";
import { findConfigPath, loadClientConfig } from "../config/load.ts";
import { command, configFlag } from "./command.ts";
import type { CliContext } from "./context.ts";
import { askHealthy, daemonUrl } from "./door.ts";

// The image's default.
const defaultListen = "127.0.0.1:9640";

/** `flatline healthcheck`: for a container's HEALTHCHECK without a shell and curl. */
export const healthcheck = command({
  description: "ask the running daemon's /-/healthy; exit 0 when it is healthy, else 1",
  flags: configFlag,
  help: '\nExample:\n  HEALTHCHECK CMD ["flatline", "healthcheck"]\n',
  run: async ({ context, flags }) => {
    const url = daemonUrl(await listenAddress(flags.config, context));
    // No proxy: the address is this machine.
    const dispatcher = createHttpDispatcher({ env: {} });
    const answer = await askHealthy(url, dispatcher, context.clock.timeout(timeoutMs)).catch(messageOf);
    await dispatcher.destroy();
    const said = typeof answer === "string" ? "" : answer.body.trim();
    if (typeof answer !== "string" && answer.status === 200) return said;
    const problem =
      typeof answer === "string"
        ? `no answer from ${url}/-/healthy: ${answer}. Is the daemon running? ${whereItAsks}`
        : `${url}/-/healthy answers ${answer.status}: ${said.slice(0, maxShownCharacters)}`;
    context.stderr.write(`flatline: ${escapeControls(problem)}\n`);
    context.setExitCode(1);
    return undefined;
  },
  say: (said) => `${said}\n`,
});

const timeoutMs = 4_000;
// A container's health log keeps 4,096 bytes of an answer.
const maxShownCharacters = 2_000;
const whereItAsks =
  "The address is server.listen of the configuration (-c), which is the daemon's, else $FLATLINE_LISTEN";

/** Ignores an invalid configuration: one that broke after the start does not make the daemon unhealthy. */
async function listenAddress(flag: string | undefined, { env, cwd }: CliContext): Promise<string> {
  try {
    return (await loadClientConfig({ path: findConfigPath({ flag, env, cwd }), cwd, env }, ["listen"])).listen;
  } catch (error) {
    if (!(error instanceof FlatlineError)) throw error;
    return env["FLATLINE_LISTEN"] ?? defaultListen;
  }
}
