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

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: "json" | "pretty";
  /** Where lines go: the log is stderr's, results are stdout's. */
  readonly write: (line: string) => void;
  readonly colour: boolean;
}

/** A logger over pino; errors in `err` are logged without a stack unless they are bugs. */
export function createLogger(options: LoggerOptions): Logger {
  const destination = {
    write: (line: string): void => options.write(options.format === "json" ? line : prettyLine(line, options.colour)),
  };
  const logger: PinoLogger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination,
  );
  return logger;
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

const colours: Readonly<Record<string, string>> = {
  debug: "\u001b[2m",
  info: "\u001b[36m",
  warn: "\u001b[33m",
  error: "\u001b[31m",
};

function prettyLine(line: string, colour: boolean): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as { time: string; level: string; msg: string };
  const facts = Object.entries(fields)
    .map(
      ([name, value]) =>
        `${name}=${typeof value === "string" && /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value)}`,
    )
    .join(" ");
  const word = colour ? `${colours[level] ?? ""}${level.padEnd(5)}\u001b[0m` : level.padEnd(5);
  return `${time} ${word} ${msg}${facts === "" ? "" : ` ${facts}`}\n`;
}
