import { createTerminalLog } from "./terminal-log.ts";
import { createLogger, type LoggerLook, type RootLogger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { hasColour, type CliContext } from "./context.ts";

type LogConfig = Pick<Config, "log" | "organizations" | "receivers" | "hiddenTexts">;

/** Returns how the log of a command looks by the configuration: `auto` is text for people on a terminal, JSON for all else. */
export function logLook(config: LogConfig, { stderr, env }: Pick<CliContext, "stderr" | "env">): LoggerLook {
  const { level, format } = config.log;
  const receivers = config.receivers.map(({ name }) => name);
  return {
    level,
    hidden: config.hiddenTexts,
    format: format === "auto" ? (stderr.isTerminal ? "pretty" : "json") : format,
    pretty: createTerminalLog({
      isColoured: hasColour(stderr, env),
      // In a file the text is as wide as on a wide terminal.
      columns: stderr.isTerminal ? stderr.columns : Number.POSITIVE_INFINITY,
      logReceivers: new Set(config.receivers.flatMap(({ name, type }) => (type === "log" ? [name] : []))),
      names: [...config.organizations.map(({ slug }) => slug), ...receivers],
    }),
  };
}

/** Creates the logger of a command that does one thing, on stderr. */
export function createCommandLogger(
  config: LogConfig,
  context: Pick<CliContext, "stderr" | "env">,
  level: "info" | "warn",
): RootLogger {
  const look = logLook(config, context);
  return createLogger({ ...look, level, write: (line) => context.stderr.write(line) });
}
