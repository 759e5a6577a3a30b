import { cutText } from "../base/cut-text.ts";
import type { LogEntry } from "../base/logger.ts";
import { escapeControls } from "../base/unseen-text.ts";
import type { Schedule } from "../checks/target.ts";
import { evenIntervalMs } from "../monitor/schedule.ts";
import { formatLength } from "../web/parts/figures.ts";
import { plainRow, wordings, type LogRow, type WordingContext } from "./log-wording.ts";
import { countOf } from "../words/numbers.ts";

export interface TerminalLogOptions extends WordingContext {
  readonly isColoured: boolean;
  /** Width of a line. */
  readonly columns: number;
  /** Organizations and receivers: they determine the width of the column of names, within limits. */
  readonly names: readonly string[];
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
  "GIVEN UP": red,
  WARN: yellow,
  WARNING: yellow,
  WAITING: yellow,
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
    const row = wording?.(entry, options) ?? null;
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
export function describeWork(
  organizations: readonly { readonly schedule: Schedule }[],
  discover: readonly unknown[] = [],
): string {
  const intervals = new Set(organizations.map(({ schedule }) => evenIntervalMs(schedule)));
  const [intervalMs = null] = intervals;
  const every = intervals.size > 1 || intervalMs === null ? "" : ` every ${formatLength(intervalMs)}`;
  const configured = `${countOf(organizations.length, "organization")}${every}`;
  // How many they list is known once the store is open.
  const listed = `those of ${countOf(discover.length, "discovery source")}`;
  if (discover.length === 0) return configured;
  return organizations.length === 0 ? listed : `${configured} and ${listed}`;
}
