import { Option, type Command } from "commander";
import { createApp } from "../daemon/create-app.ts";
import { daemonUrl } from "./daemon-address.ts";
import { describeWork, firstLine } from "./terminal-log.ts";
import { errorKinds } from "../base/errors.ts";
import { createLogger, type Logger, type LoggerLook } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import { actor } from "../contract/actor.ts";
import type { Config } from "../config/config.ts";
import { configFingerprint } from "../config/document/fingerprint.ts";
import { loadConfig, findConfigPath, type LoadOptions } from "../config/load.ts";
import { logLook } from "./command-logger.ts";
import { hasColour, type CliContext, type RegisterCommand } from "./context.ts";

// Soon enough for a person who waits for it, seldom enough to cost nothing.
const watchEveryMs = 2 * secondMs;

/** `flatline run` */
export const registerRun: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("run")
    .description("run the daemon")
    .option("-c, --config <file>", "configuration file")
    .option("--watch", "reload when the content of the configuration changes")
    .addOption(
      new Option(
        "--log-format <format>",
        "how the log looks, over log.format [auto: text on a terminal, else JSON]",
      ).choices(logFormats),
    )
    .addHelpText("after", help)
    .action(async (flags: RunFlags) => {
      await run(flags, context);
    });
};

const help = `
SIGHUP and POST /-/reload read the configuration again; on a terminal, SIGHUP says that it has closed, and
stops. SIGTERM and SIGINT stop gracefully within server.drainTimeout and 2 s; a second one stops at once. Exit 0, or 74 when not everything could be stored.

The log goes to stderr: text for people on a terminal, one JSON object a line where it is piped.

Examples:
  flatline run -c flatline.yaml
  flatline run --watch
`;

interface RunFlags {
  readonly config?: string;
  readonly watch?: boolean;
  readonly logFormat?: LogFormat;
}

type LogFormat = Config["log"]["format"];
const logFormats: readonly LogFormat[] = ["auto", "json", "pretty"];

async function run(flags: RunFlags, context: CliContext): Promise<void> {
  const { env, cwd, signal } = context;
  const load: LoadOptions = { path: await findConfigPath({ flag: flags.config, env, cwd }), cwd, env };
  const fingerprint = flags.watch === true ? await configFingerprint(load) : null;
  const config = await loadConfig(load);
  const lookOf = (read: Config): LoggerLook =>
    logLook({ ...read, log: { ...read.log, format: flags.logFormat ?? read.log.format } }, context);
  const look = lookOf(config);
  const opening = createOpening(context, config, look.format === "pretty");
  const logger = createLogger({ ...look, write: (line) => opening.write(line) });
  context.onCrash((error) => logger.error({ err: error }, "unexpected error, flatline ends at once"));
  const readConfig = async (): Promise<Config> => {
    const next = await loadConfig(load);
    // Here, not once it is applied: what applying it says is of it already.
    logger.adjust(lookOf(next));
    return next;
  };
  const app = createApp(config, { ...context, logger, readConfig });
  // What a reload could not apply is in the log and in the metrics.
  const reload = (by: "signal" | "file"): void => void app.reload(actor(by, "config")).catch(() => undefined);
  context.onHangup(() => reload("signal"));
  const asked = aborted(signal);
  // A start may take long: a preload, a database that is not there yet.
  try {
    await Promise.race([app.start(), asked]);
  } finally {
    opening.end(app.address()?.url ?? null);
  }
  if (fingerprint !== null) void watch(load, fingerprint, () => reload("file"), context, logger);
  await asked;
  const { isStored } = await app.stop();
  context.setExitCode(isStored ? 0 : errorKinds.store_unusable.exitCode);
}

interface Opening {
  write(line: string): void;
  /** It listens there; null: it does not, and what was held back is all there is. */
  end(url: string | null): void;
}

/** Sees to it that the first line on a terminal says where the daemon is: what is logged before that is known waits. */
function createOpening({ stderr, version, env }: CliContext, config: Config, isForPeople: boolean): Opening {
  let held: string[] | null = isForPeople ? [] : null;
  const work = describeWork(config.organizations, config.discover);
  const end = (url: string | null): void => {
    if (held === null) return;
    const first = url === null ? "" : firstLine({ version, url, work }, hasColour(stderr, env));
    stderr.write([first, ...held].join(""));
    held = null;
  };
  // A free port is known once it is taken.
  if (!config.server.listen.endsWith(":0")) end(daemonUrl(config.server.listen));
  return {
    write: (line) => {
      if (held === null) stderr.write(line);
      else held.push(line);
    },
    end,
  };
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
