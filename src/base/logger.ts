import { pino, type Logger as PinoLogger } from "pino";

/** Structured log: fixed message, facts in fields. info = state changed; debug = each run; warn = retrying; error = a human must act. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** A line of the log as it is stored and sent: the fixed message, and its facts. */
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
  /** Where lines go: the log is stderr's, results are stdout's. */
  readonly write: (line: string) => void;
  /** The lines of an entry for people, each with its line feed; "" shows nothing of it. */
  readonly pretty: (entry: LogEntry) => string;
}

/** What a reload may change. */
export type LoggerLook = Pick<LoggerOptions, "level" | "format" | "pretty">;

/** A logger whose level and format a reload may change. */
export interface RootLogger extends Logger {
  /** Changes what it writes from now on, and what its children write. */
  adjust(options: LoggerLook): void;
}

const ranks: Readonly<Record<LogLevel, number>> = { debug: 1, info: 2, warn: 3, error: 4, silent: 5 };

/** A logger over pino; errors in `err` are logged without a stack unless they are bugs. */
export function createLogger(options: LoggerOptions): RootLogger {
  const shared = { level: options.level, format: options.format, pretty: options.pretty };
  const destination = {
    write: (line: string): void => {
      const text = shared.format === "json" ? line : shared.pretty(JSON.parse(line) as LogEntry);
      if (text !== "") options.write(text);
    },
  };
  const logger = pino(
    {
      // The level is looked at before, here: a child of pino's keeps the level that its parent had when it was made.
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
    adjust: ({ level, format, pretty }) => void Object.assign(shared, { level, format, pretty }),
  };
}

function levelled(logger: PinoLogger, shared: { readonly level: LogLevel }): Logger {
  const isWritten = (level: LogLevel): boolean => ranks[level] >= ranks[shared.level];
  return {
    debug: (fields, message) => {
      if (isWritten("debug")) logger.debug(fields, message);
    },
    info: (fields, message) => {
      if (isWritten("info")) logger.info(fields, message);
    },
    warn: (fields, message) => {
      if (isWritten("warn")) logger.warn(fields, message);
    },
    error: (fields, message) => {
      if (isWritten("error")) logger.error(fields, message);
    },
    child: (fields) => levelled(logger.child(fields), shared),
  };
}

/** A logger that says nothing, for commands that only answer. */
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
