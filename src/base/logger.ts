import { pino } from "pino";

import { redact, type Secret } from "./secret.ts";

/** Fixed messages, facts in fields. info: state changed; debug: each run; warn: retrying; error: a human must act. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface LogEntry {
  readonly time: string;
  readonly level: Exclude<LogLevel, "silent">;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

/** A reload may change it. */
export interface LoggerLook {
  readonly level: LogLevel;
  readonly format: "json" | "pretty";
  /** Secrets that no line shows [none]. */
  readonly hidden?: readonly Secret[];
  /** Formats an entry for a terminal, each line with its line feed; "" hides it. */
  readonly pretty: (entry: LogEntry) => string;
}

/**
 * Creates a logger over pino; a new look also applies to its children. `write` takes one line. An error in `err` is
 * logged without a stack, unless it is a bug.
 */
export function createLogger(given: LoggerLook, write: (line: string) => void) {
  let look = given;
  const logger: Logger = pino(
    {
      level: "debug",
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      hooks: {
        // A child in pino keeps the level that its parent had then.
        logMethod(line, log, level) {
          if (level >= (pino.levels.values[look.level] ?? Infinity)) log.apply(this, line);
        },
      },
    },
    {
      write: (line: string): void => {
        const text = look.format === "json" ? line : look.pretty(JSON.parse(line) as LogEntry);
        if (text !== "") write(redact(text, look.hidden ?? []));
      },
    },
  );
  return Object.assign(logger, { adjust: (changed: LoggerLook): void => void (look = changed) });
}

/** Creates a logger that discards everything, for commands that only print a result. */
export function createSilentLogger(): Logger {
  return pino({ level: "silent" });
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error ? { code: error.code } : {};
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  const isBug = "fault" in error ? error.fault === "bug" : error.name !== "TimeoutError";
  return { message: error.message, ...code, ...cause, ...(isBug ? { stack: error.stack } : {}) };
}
