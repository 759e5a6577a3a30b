import { createApp } from "../daemon/app.ts";
import { daemonUrl } from "./door.ts";
import { errorKinds, type FlatlineError } from "../base/errors.ts";
import { collectHeap, releaseHeap } from "../base/heap-growth.ts";
import { createLogger, type LoggerLook } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import { actor } from "../contract/actor.ts";
import type { Config } from "../config/config.ts";
import { configFiles, fingerprintFiles } from "../config/document/document.ts";
import { loadConfig, findConfigPath, type LoadOptions } from "../config/load.ts";
import { logLook } from "./terminal-log.ts";
import { countOf } from "../words/numbers.ts";
import { choice, command, configFlag, type FlagsOf } from "./command.ts";
import { painterFor, type CliContext } from "./context.ts";

const watchEveryMs = 2 * secondMs;

// The start is over then; it leaves some 16 MB of garbage that V8 would collect only under load.
const settledMs = 5 * secondMs;

const logFormats: readonly Config["log"]["format"][] = ["auto", "json", "pretty"];

const runFlags = {
  ...configFlag,
  logFormat: choice("<format>", "how the log looks, over log.format [auto: text on a terminal, else JSON]", logFormats),
};

export const run = command({
  description: "run the daemon",
  flags: runFlags,
  help: `
A change of the configuration's content is applied within seconds; SIGHUP and POST /-/reload read it again
at once. On a terminal, SIGHUP says that it has closed, and stops. SIGTERM and SIGINT stop gracefully within
server.drainTimeout and 2 s; a second one stops at once. Exit 0, or 74 when not everything could be stored.

The log goes to stderr: text for people on a terminal, one JSON object a line where it is piped.

Example:
  flatline run -c flatline.yaml
`,
  run: async ({ context, flags }) => {
    await runDaemon(flags, context);
    return undefined;
  },
  say: () => "",
});

async function runDaemon(flags: FlagsOf<typeof runFlags>, context: CliContext): Promise<void> {
  const { env, cwd, signal, stderr, clock } = context;
  const load: LoadOptions = { path: findConfigPath({ flag: flags.config, env, cwd }), cwd, env };
  let watched = await readWatched(load);
  const config = await loadConfig(load);
  const lookOf = (read: Config): LoggerLook =>
    logLook({ ...read, log: { ...read.log, format: flags.logFormat ?? read.log.format } }, context);
  const look = lookOf(config);
  if (look.format === "pretty") stderr.write(firstLine(config, context));
  const logger = createLogger(look, (line) => stderr.write(line));
  context.onCrash((error) => logger.error({ err: error }, "unexpected error, flatline ends at once"));
  const readConfig = async (): Promise<Config> => {
    // First, so that the next look sees a change that is written meanwhile.
    watched = await readWatched(load);
    const next = await loadConfig(load);
    // First, so that lines about the change itself look as the new configuration says.
    logger.adjust(lookOf(next));
    return next;
  };
  const taken = Promise.withResolvers<FlatlineError>();
  const app = createApp(config, { ...context, logger, readConfig, onTaken: taken.resolve });
  // The log and the metrics show a reload that failed.
  const reload = (by: "signal" | "file"): Promise<void> => app.reload(actor(by, "config")).catch(() => undefined);
  context.onHangup(() => void reload("signal"));
  const asked = aborted(signal);
  const ended = new AbortController();
  // A start may take long: a preload, or a database that is not available yet.
  await Promise.race([app.start(), asked]);
  const watch = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await clock.sleep(watchEveryMs, ended.signal);
      const known = watched;
      const found = await fingerprintFiles(known.files);
      // Another reload may have read the files meanwhile.
      if (ended.signal.aborted || known !== watched || found === known.fingerprint) continue;
      logger.info({}, "content of the configuration changed");
      await reload("file");
    }
  };
  const settle = async (): Promise<void> => {
    await context.clock.sleep(settledMs, ended.signal);
    if (ended.signal.aborted) return;
    collectHeap();
    releaseHeap();
  };
  void watch();
  void settle();
  const lost = await Promise.race([asked, taken.promise]);
  ended.abort();
  // After a loss of the store nothing can be stored any more.
  const { isStored } = await app.stop(lost === undefined ? undefined : 0);
  if (lost !== undefined) throw lost;
  context.setExitCode(isStored ? 0 : errorKinds.store_unusable.exitCode);
}

/** Returns the first line on a terminal: version, address, organizations, and how to stop it. */
function firstLine({ server, organizations, discover }: Config, { version, stderr, env }: CliContext): string {
  const paint = painterFor(stderr, env);
  const url = server.listen.endsWith(":0") ? "" : `${paint(daemonUrl(server.listen), "bold")}  `;
  const listed = discover.length === 0 ? "" : ` and those of ${countOf(discover.length, "discovery source")}`;
  const watched = `${countOf(organizations.length, "organization")}${listed}`;
  return `flatline ${version}  ${url}${watched}  ${paint("Ctrl-C stops", "dim")}\n`;
}

/** Returns the files of the configuration and the fingerprint of their content. */
async function readWatched(load: LoadOptions) {
  const files = await configFiles(load);
  return { files, fingerprint: await fingerprintFiles(files) };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
