import { togetherMs } from "../alerting/decide/verdict.ts";
import { cutText } from "../base/cut-text.ts";
import type { LogEntry } from "../base/logger.ts";
import { formatCount } from "../base/numbers.ts";
import { escapeControls } from "../base/unseen-text.ts";
import { scheduleOf, type Scheduled } from "../checks/target.ts";
import { deathWords } from "../contract/death-counts.ts";
import { evenIntervalMs } from "../monitor/schedule.ts";
import { formatLength } from "../web/parts/figures.ts";
import { countOf, withinText } from "../words/numbers.ts";

export interface TerminalLogOptions {
  readonly isColoured: boolean;
  /** Width of a line. */
  readonly columns: number;
  /** Organizations and receivers: they determine the width of the column of names, within limits. */
  readonly names: readonly string[];
  /** Receivers of type log: their lines say themselves that they were delivered. */
  readonly logReceivers: ReadonlySet<string>;
}

/** What a line says: of whom, how they are, and what happened. */
interface LogRow {
  /** A severity in capitals, or the level; "" for what merely happened. */
  readonly word: string;
  /** The organization or the receiver; "" for what is about none. */
  readonly name: string;
  readonly text: string;
  /** A person has to act on it: all of it is shown, over as many lines as it has. */
  readonly isWhole?: boolean;
}

/** The words for people of what is logged most, by its message; null shows nothing, as another line says it. */
export const wordings: Readonly<Record<string, (entry: LogEntry) => LogRow | null>> = {
  "check ran": (entry) => ({ word: textOf(entry, "severity"), name: textOf(entry, "slug"), text: resultText(entry) }),
  "severity changed": (entry) => {
    // The first time that one is ok is no change, and the total of the first round has it.
    if (entry["previousSeverity"] === null && entry["severity"] === "ok") return null;
    return severityRow(entry, resultText(entry));
  },
  "alert changed": (entry) => {
    const reason = textOf(entry, "reason");
    // The line of the run that changed the severity has just said it.
    if (coincident.has(reason)) return null;
    const hasEnded = textOf(entry, "event") === "resolved" || textOf(entry, "event") === "recovered";
    return severityRow(entry, `${ofCheck(entry)}the alert ${hasEnded ? "has ended" : "fires"}: ${reason}`, hasEnded);
  },
  "every check has run": (entry) => {
    const parts = ["fail", "warn", "unknown", "ok"].flatMap((severity) => {
      const count = numberOf(entry, severity) ?? 0;
      return count === 0 ? [] : [`${formatCount(count)} ${severity}`];
    });
    const seconds = ((numberOf(entry, "tookMs") ?? 0) / 1_000).toFixed(1);
    return { word: "", name: "", text: `${parts.join(", ")}, in ${seconds} s` };
  },
  "fleet verdict holds": (entry) => ({
    word: "FAIL",
    name: "fleet",
    // Those that made it one.
    text: `incident ${numberOf(entry, "incident")}: ${countOf(numberOf(entry, "together") ?? 0, "organization")} began to spike within ${withinText(togetherMs)}, from one cause`,
  }),
  "notification formed": () => null,
  // What a receiver of type log writes.
  "alert firing": (entry) => severityRow(entry, noticeText(entry)),
  "alert resolved": (entry) => severityRow(entry, noticeText(entry), true),
};

/** Reasons of changes that are those of the severity. */
const coincident: ReadonlySet<string> = new Set([
  "not_ok",
  "severity_rose",
  "severity_fell",
  "back_to_ok",
  "result_returned",
]);

/** Returns the row of an entry that has no words of its own: its message and its facts. */
function plainRow(entry: LogEntry): LogRow {
  const { time: _time, level, msg, room: _room, slug, receiver, notification: _id, err, ...facts } = entry;
  const name = [slug, receiver].find((one) => typeof one === "string") ?? "";
  const more = Object.entries(facts).map(
    ([fact, value]) => `${fact}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return {
    word: levelWords[level],
    name,
    text: [`${msg}${errorText(err)}`, ...more].join(" "),
    isWhole: level === "error",
  };
}

const levelWords: Readonly<Record<LogEntry["level"], string>> = {
  debug: "debug",
  info: "",
  warn: "WARNING",
  error: "ERROR",
};

/** ": what went wrong (why)", and below it the stack of a bug. */
function errorText(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { message, cause, stack } = error as {
    readonly message?: unknown;
    readonly cause?: unknown;
    readonly stack?: unknown;
  };
  const why = typeof cause === "string" && cause !== message ? ` (${cause})` : "";
  return `: ${String(message)}${why}${typeof stack === "string" ? `\n${stack}\n` : ""}`;
}

function severityRow(entry: LogEntry, text: string, hasEnded = false): LogRow {
  return { word: hasEnded ? "OK" : textOf(entry, "severity").toUpperCase(), name: textOf(entry, "slug"), text };
}

/** What a run gave: deaths, or why there is no result; of another check than the spike check its name first. */
function resultText(entry: LogEntry): string {
  const reason = textOf(entry, "reason");
  const what =
    reason === ""
      ? deathsOf(entry, "currentCount", "expectedCount")
      : `no result: ${textOf(entry, "message")} (${reason})`;
  return `${ofCheck(entry)}${what}`.replace(/: $/, "");
}

function ofCheck(entry: LogEntry): string {
  const check = textOf(entry, "check");
  return check === "dead-asset-spike" ? "" : `${check}: `;
}

function deathsOf(entry: LogEntry, count: string, expected: string): string {
  const [currentCount, expectedCount, ratio] = [count, expected, "ratio"].map((fact) => numberOf(entry, fact));
  const counts = { currentCount: currentCount ?? null, expectedCount: expectedCount ?? null, ratio: ratio ?? null };
  return deathWords({ ...counts, counting: entry["counting"] === "assets" ? "assets" : "deaths" }) ?? "";
}

function noticeText(entry: LogEntry): string {
  const parts = [textOf(entry, "event"), deathsOf(entry, "count", "expected"), textOf(entry, "error")];
  return `${textOf(entry, "receiver")}: ${ofCheck(entry)}${parts.filter((part) => part !== "").join(", ")}`;
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
const leastNameColumns = 8;
const mostNameColumns = 28;
const leastColumns = 80;
// Longer lines are harder to read, however wide the terminal is.
const mostColumns = 120;

const [red, yellow, magenta, green, bold, dim] = [31, 33, 35, 32, 1, 2];
const wordColours: Readonly<Record<string, number>> = {
  FAIL: red,
  ERROR: red,
  WARN: yellow,
  WARNING: yellow,
  UNKNOWN: magenta,
  OK: green,
};

/** Creates the log format for terminals: time, status word, name, text. */
export function createTerminalLog(options: TerminalLogOptions): (entry: LogEntry) => string {
  const longest = Math.max(0, ...options.names.map(({ length }) => length));
  const nameColumns = Math.min(mostNameColumns, Math.max(leastNameColumns, longest));
  const columns = Math.min(mostColumns, Math.max(leastColumns, options.columns));
  const paint = (text: string, colour: number | undefined): string =>
    options.isColoured && colour !== undefined && text.trim() !== "" ? `\u001b[${colour}m${text}\u001b[0m` : text;
  let day: string | null = null;

  function line({ word, name, text, isWhole = false }: LogRow, time: string): string {
    const clock = time.slice(11, 19);
    const named = name === "" ? "" : `${cutText(oneLine(name), mostNameColumns).padEnd(nameColumns)}  `;
    const room = columns - `${clock} ${"".padEnd(wordColumns)} ${named}`.length;
    const shown = isWhole ? escapeControls(text).trimEnd() : cutText(oneLine(text), room);
    const padded = paint(word.padEnd(wordColumns), wordColours[word] ?? dim);
    return `${paint(clock, dim)} ${padded} ${paint(named, bold)}${shown}`.trimEnd();
  }

  return (entry) => {
    const wording = Object.hasOwn(wordings, entry.msg) ? wordings[entry.msg] : plainRow;
    const isSaid = entry.msg === "notification delivered" && options.logReceivers.has(textOf(entry, "receiver"));
    const row = isSaid ? null : (wording?.(entry) ?? null);
    if (row === null) return "";
    const date = entry.time.slice(0, 10);
    const isNextDay = day !== null && date !== day;
    day = date;
    return `${isNextDay ? `${paint(`${date} UTC`, dim)}\n` : ""}${line(row, entry.time)}\n`;
  };
}

/** Escapes outside text, so that it cannot control the terminal or imitate a line of the log. */
function oneLine(text: string): string {
  return escapeControls(text.replaceAll(/[\t\n]+/g, " ").trim());
}

/** Returns the first line of a daemon on a terminal: version, address, work, and how to stop it. */
export function firstLine(
  facts: { readonly version: string; readonly url: string; readonly work: string },
  isColoured: boolean,
): string {
  const paint = (text: string, colour: number): string => (isColoured ? `\u001b[${colour}m${text}\u001b[0m` : text);
  return `flatline ${facts.version}  ${paint(facts.url, bold)}  ${facts.work}  ${paint("Ctrl-C stops", dim)}\n`;
}

/** Returns "5 organizations every 5m"; without the interval if the organizations differ. */
export function describeWork(organizations: readonly Scheduled[], discover: readonly unknown[] = []): string {
  const intervals = new Set(organizations.map((one) => evenIntervalMs(scheduleOf(one))));
  const [intervalMs = null] = intervals;
  const every = intervals.size > 1 || intervalMs === null ? "" : ` every ${formatLength(intervalMs)}`;
  const configured = `${countOf(organizations.length, "organization")}${every}`;
  // How many they list is known once the store is open.
  const listed = `those of ${countOf(discover.length, "discovery source")}`;
  if (discover.length === 0) return configured;
  return organizations.length === 0 ? listed : `${configured} and ${listed}`;
}
