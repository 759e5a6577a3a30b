import { pino, type Logger as PinoLogger } from "pino";

import { redact, type Secret } from "./secret.ts";

/**
 * Structured log: fixed message, facts in fields. info = state changed; debug = each run; warn = retrying; error = a human
 * must act.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** A log line: the fixed message and its fields. */
export interface LogEntry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: Exclude<LogLevel, "silent">;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: "json" | "pretty";
  /** Writes one line. The log goes to stderr, results go to stdout. */
  readonly write: (line: string) => void;
  /** What no line shows, wherever it comes from [nothing]. */
  readonly hidden?: readonly Secret[];
  /** Formats an entry for a terminal, each line with its line feed; "" hides the entry. */
  readonly pretty: (entry: LogEntry) => string;
}

/** The options that a reload may change. */
export type LoggerLook = Pick<LoggerOptions, "level" | "format" | "hidden" | "pretty">;

/** A logger whose level and format a reload may change. */
export interface RootLogger extends Logger {
  /** Changes the output of this logger and of its children. */
  adjust(options: LoggerLook): void;
}

const ranks: Readonly<Record<LogLevel, number>> = { debug: 1, info: 2, warn: 3, error: 4, silent: 5 };

/** Creates a logger over pino. An error in `err` is logged without a stack, unless it is a bug. */
export function createLogger(options: LoggerOptions): RootLogger {
  const { level, format, hidden = [], pretty } = options;
  const shared = { level, format, hidden, pretty };
  const destination = {
    write: (line: string): void => {
      const text = shared.format === "json" ? line : shared.pretty(JSON.parse(line) as LogEntry);
      if (text !== "") options.write(redact(text, shared.hidden));
    },
  };
  const logger = pino(
    {
      // The level is checked above: a child of a pino logger keeps the level that its parent had at its creation.
      level: "debug",
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination,
  );
  return {
    ...levelled(logger, shared),
    adjust: ({ level, format, hidden = [], pretty }) => void Object.assign(shared, { level, format, hidden, pretty }),
  };
}

function levelled(logger: PinoLogger, shared: { readonly level: LogLevel }): Logger {
  const writer =
    (level: LogEntry["level"]): Logger["info"] =>
    (fields, message) => {
      if (ranks[level] >= ranks[shared.level]) logger[level](fields, message);
    };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    child: (fields) => levelled(logger.child(fields), shared),
  };
}

/** Creates a logger that discards everything, for commands that only print a result. */
export function createSilentLogger(): Logger {
  return pino({ level: "silent" });
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error ? { code: error.code } : {};
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  const isBug = !("fault" in error) || error.fault === "bug";
  return { message: error.message, ...code, ...cause, ...(isBug ? { stack: error.stack } : {}) };
}
