import type { Command } from "commander";
import { createApp } from "../daemon/create-app.ts";
import { loadCheckedConfig } from "../commands/config-check.ts";
import { errorKinds } from "../base/errors.ts";
import { createLogger, type Logger } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import { configFingerprint } from "../config/document/fingerprint.ts";
import { findConfigPath, type LoadOptions } from "../config/load.ts";
import { hasColour, type CliContext, type RegisterCommand } from "./context.ts";
import { releaseYoungGeneration } from "./young-generation.ts";

// Soon enough for a person who waits for it, seldom enough to cost nothing.
const watchEveryMs = 2 * secondMs;

/** `flatline run` */
export const registerRun: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("run")
    .description("run the daemon")
    .option("-c, --config <file>", "configuration file")
    .option("--watch", "reload when the content of the configuration changes")
    .addHelpText("after", help)
    .action(async (flags: RunFlags) => {
      await run(flags, context);
    });
};

const help = `
SIGHUP and POST /-/reload read the configuration again. SIGTERM and SIGINT stop gracefully within
server.drainTimeout and 2 s; a second one stops at once. Exit 0, or 74 when not everything could be stored.

Examples:
  flatline run -c flatline.yaml
  flatline run --watch
`;

interface RunFlags {
  readonly config?: string;
  readonly watch?: boolean;
}

async function run(flags: RunFlags, context: CliContext): Promise<void> {
  const { env, cwd, signal } = context;
  const load: LoadOptions = { path: await findConfigPath({ flag: flags.config, env, cwd }), cwd, env };
  const fingerprint = flags.watch === true ? await configFingerprint(load) : null;
  const config = await loadCheckedConfig(load);
  const logger = createLogger({
    ...config.log,
    write: (line) => context.stderr.write(line),
    colour: hasColour(context.stderr, env),
  });
  context.onCrash((error) => logger.error({ err: error }, "unexpected error, flatline ends at once"));
  const readConfig = async (): Promise<Config> => {
    const next = await loadCheckedConfig(load);
    // Here, not once it is applied: what applying it says is of it already.
    logger.adjust(next.log);
    return next;
  };
  const app = createApp(config, { ...context, logger, readConfig });
  // What a reload could not apply is in the log and in the metrics.
  const reload = (): void => void app.reload().catch(() => undefined);
  context.onHangup(reload);
  const asked = aborted(signal);
  // A start may take long: a preload, a database that is not there yet.
  await Promise.race([app.start(), asked]);
  releaseYoungGeneration();
  if (fingerprint !== null) void watch(load, fingerprint, reload, context, logger);
  await asked;
  const { isStored } = await app.stop();
  context.setExitCode(isStored ? 0 : errorKinds.store_unusable.exitCode);
}

async function watch(
  load: LoadOptions,
  initial: string,
  reload: () => void,
  { clock, signal }: CliContext,
  logger: Logger,
): Promise<void> {
  let known = initial;
  while (!signal.aborted) {
    await clock.sleep(watchEveryMs, signal);
    const found = await configFingerprint(load);
    if (found === known) continue;
    known = found;
    logger.info({}, "content of the configuration changed");
    reload();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
