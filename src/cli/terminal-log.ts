import { cutText, escapeControls } from "../base/outside-text.ts";
import type { LogEntry, LoggerLook } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { deathWords } from "../contract/death-counts.ts";
import { countOf } from "../words/numbers.ts";
import { painterFor, type CliContext, type Paint } from "./context.ts";

/** Returns the level and the format of the log; `auto` is text on a terminal, else JSON. */
export function logLook(
  config: Pick<Config, "log" | "receivers" | "hiddenTexts">,
  { stderr, env }: Pick<CliContext, "stderr" | "env">,
): LoggerLook {
  const { level, format } = config.log;
  return {
    level,
    hidden: config.hiddenTexts,
    format: format === "auto" ? (stderr.isTerminal ? "pretty" : "json") : format,
    pretty: createTerminalLog({
      paint: painterFor(stderr, env),
      columns: stderr.isTerminal ? stderr.columns : mostColumns,
      logReceivers: new Set(config.receivers.flatMap(({ name, type }) => (type === "log" ? [name] : []))),
    }),
  };
}

export interface TerminalLogOptions {
  readonly paint: Paint;
  /** Width of a line. */
  readonly columns: number;
  /** Receivers of type log: their line itself shows the delivery. */
  readonly logReceivers: ReadonlySet<string>;
}

/** The columns of a line. */
interface LogRow {
  /** A severity in capitals, or the level; "": info. */
  readonly word: string;
  /** The organization or the receiver; "": neither. */
  readonly name: string;
  readonly text: string;
}

/** The lines for people of frequent messages; null: another line says it. */
export const wordings: Readonly<Record<string, (entry: LogEntry) => LogRow | null>> = {
  "severity changed": (entry) => {
    // The first ok is no change.
    if (entry["previousSeverity"] === null && entry["severity"] === "ok") return null;
    const reason = textOf(entry, "reason");
    const result =
      reason === ""
        ? deathsOf(entry, "currentCount", "expectedCount")
        : `no result: ${textOf(entry, "message")} (${reason})`;
    return severityRow(entry, [result]);
  },
  // For most reasons the line of the severity has just said it.
  "alert changed": (entry) => (coincident.includes(textOf(entry, "reason")) ? null : plainRow(entry)),
  // Only the organizations that made it a fleet verdict are known yet.
  "fleet verdict holds": (entry) => ({
    word: "FAIL",
    name: "fleet",
    text:
      `incident ${numberOf(entry, "incident")}: ${numberOf(entry, "together")} of ` +
      `${countOf(numberOf(entry, "organizations") ?? 0, "organization")} began to spike, from one cause`,
  }),
  "notification formed": () => null,
  // The lines of a receiver of type log.
  "alert firing": (entry) => noticeRow(entry),
  "alert resolved": (entry) => ({ ...noticeRow(entry), word: "OK" }),
  "fleet verdict: one cause": (entry) => fleetRow(entry, textOf(entry, "severity").toUpperCase()),
  "fleet verdict resolved": (entry) => fleetRow(entry, "OK"),
};

/** Reasons of alerts that are changes of the severity. */
const coincident = ["not_ok", "severity_rose", "severity_fell", "back_to_ok", "result_returned"];

/** Returns message and facts of an entry that has no wording. */
function plainRow(entry: LogEntry): LogRow {
  const { time: _time, level, msg, room: _room, slug, receiver, notification: _id, err, ...facts } = entry;
  const more = Object.entries(facts).map(
    ([fact, value]) => `${fact}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return {
    word: levelWords[level],
    name: [slug, receiver].find((one) => typeof one === "string") ?? "",
    text: [`${msg}${errorText(err)}`, ...more].join(" "),
  };
}

const levelWords = { debug: "debug", info: "", warn: "WARNING", error: "ERROR" } as const;

/** Returns ": message (cause)", and below it the stack of a bug. */
function errorText(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { message, cause, stack } = error as Readonly<Partial<Record<"message" | "cause" | "stack", unknown>>>;
  const why = typeof cause === "string" && cause !== message ? ` (${cause})` : "";
  return `: ${String(message)}${why}${typeof stack === "string" ? `\n${stack}\n` : ""}`;
}

/** Returns the row of an organization; the check is named unless it is dead-asset-spike. */
function severityRow(entry: LogEntry, parts: readonly string[], prefix = ""): LogRow {
  const check = textOf(entry, "check");
  const what = parts.filter((part) => part !== "").join(", ");
  const text = [prefix, check === "dead-asset-spike" ? "" : check, what].filter((part) => part !== "").join(": ");
  return { word: textOf(entry, "severity").toUpperCase(), name: textOf(entry, "slug"), text };
}

function noticeRow(entry: LogEntry): LogRow {
  const parts = [textOf(entry, "event"), deathsOf(entry, "count", "expected"), textOf(entry, "error")];
  return withTakedowns(entry, severityRow(entry, parts, textOf(entry, "receiver")));
}

function fleetRow(entry: LogEntry, word: string): LogRow {
  const text = `${textOf(entry, "receiver")}: ${textOf(entry, "summary")}`;
  return withTakedowns(entry, { word, name: "fleet", text });
}

function withTakedowns(entry: LogEntry, row: LogRow): LogRow {
  const takedowns = textOf(entry, "takedowns");
  return takedowns === "" ? row : { ...row, text: `${row.text.replace(/[.]?$/, ".")} ${takedowns}` };
}

function deathsOf(entry: LogEntry, count: string, expected: string): string {
  const counts = {
    currentCount: numberOf(entry, count),
    expectedCount: numberOf(entry, expected),
    ratio: numberOf(entry, "ratio"),
    counting: entry["counting"] === "assets" ? "assets" : "deaths",
  } as const;
  return deathWords(counts) ?? "";
}

function textOf(entry: LogEntry, fact: string): string {
  const value = entry[fact];
  return typeof value === "string" ? value : "";
}

function numberOf(entry: LogEntry, fact: string): number | null {
  const value = entry[fact];
  return typeof value === "number" ? value : null;
}

const wordColumns = 8;
// Most names are shorter; a longer one shifts its own line only.
const nameColumns = 13;
const mostNameColumns = 28;
// Longer lines are hard to read.
const mostColumns = 120;

const wordColours: Readonly<Record<string, Parameters<Paint>[1]>> = {
  FAIL: "fail",
  ERROR: "fail",
  WARN: "warn",
  WARNING: "warn",
  UNKNOWN: "unknown",
  OK: "ok",
};

/** Creates the log format for terminals: time, status word, name, text. */
export function createTerminalLog({ paint, columns, logReceivers }: TerminalLogOptions): (entry: LogEntry) => string {
  let day: string | null = null;
  return (entry) => {
    if (entry.msg === "notification delivered" && logReceivers.has(textOf(entry, "receiver"))) return "";
    const row = (Object.hasOwn(wordings, entry.msg) ? wordings[entry.msg] : plainRow)?.(entry) ?? null;
    if (row === null) return "";
    const { word, name, text } = row;
    const [date, clock] = [entry.time.slice(0, 10), entry.time.slice(11, 19)];
    const head = day !== null && date !== day ? `${paint(`${date} UTC`, "dim")}\n` : "";
    day = date;
    const named = name === "" ? "" : `${cutText(oneLine(name), mostNameColumns).padEnd(nameColumns)}  `;
    const room = Math.min(columns, mostColumns) - `${clock} ${"".padEnd(wordColumns)} ${named}`.length;
    // An error is shown in full, because a person has to act on it.
    const shown = word === "ERROR" ? escapeControls(text).trimEnd() : cutText(oneLine(text), room);
    const padded = paint(word.padEnd(wordColumns), wordColours[word] ?? "dim");
    return `${head}${`${paint(clock, "dim")} ${padded} ${paint(named, "bold")}${shown}`.trimEnd()}\n`;
  };
}

/** Escapes outside text, so that it cannot control the terminal or imitate a line of the log. */
function oneLine(text: string): string {
  return escapeControls(text.replaceAll(/[\t\n]+/g, " ").trim());
}
