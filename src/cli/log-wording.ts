import { basename } from "node:path";

import { cutText } from "../base/cut-text.ts";
import { togetherMs } from "../alerting/decide/verdict.ts";
import type { LogEntry } from "../base/logger.ts";
import { secondMs } from "../base/time.ts";
import { deathWords } from "../contract/death-counts.ts";
import { formatCount } from "../base/numbers.ts";
import { formatLength, formatWait } from "../web/parts/figures.ts";
import { countOf, withinText } from "../words/numbers.ts";

/** What a line of the log says to people: of whom, how they are, and what happened. */
export interface LogRow {
  /** A severity in capitals, or what else has to be seen at a glance; "" for what merely happened. */
  readonly word: string;
  /** The organization or the receiver; "" for what is about none. */
  readonly name: string;
  readonly text: string;
  /** A person has to act on it: all of it is shown, over as many lines as it has. */
  readonly isWhole?: boolean;
}

/** What decides about the wording beside the entry. */
export interface WordingContext {
  /** Receivers of type log: their lines say themselves that they were delivered. */
  readonly logReceivers: ReadonlySet<string>;
}

type Wording = (entry: LogEntry, context: WordingContext) => LogRow | null;

/**
 * The words for people of what the daemon logs, by its fixed message; null shows nothing, as another line says it. What is not
 * here is shown as it is logged.
 */
export const wordings: Readonly<Record<string, Wording>> = {
  "check ran": (entry) => ({ word: textOf(entry, "severity"), name: textOf(entry, "slug"), text: resultText(entry) }),
  "severity changed": (entry) => {
    // The first time that one is ok is no change, and the total of the first round has it.
    if (entry["previousSeverity"] === null && entry["severity"] === "ok") return null;
    return { ...severityRow(entry), text: resultText(entry) };
  },
  "alert changed": (entry) => {
    // With the run that changed the severity: its line has just said it.
    const isShownElsewhere = coincident.has(textOf(entry, "reason"));
    const event = textOf(entry, "event");
    const hasEnded = event === "resolved" || event === "recovered";
    const row = hasEnded ? { word: "OK", name: textOf(entry, "slug") } : severityRow(entry);
    return isShownElsewhere ? null : { ...row, text: alertText(entry, hasEnded) };
  },
  "every check has run": (entry) => {
    const parts = ["fail", "warn", "unknown", "ok"].flatMap((severity) => {
      const count = numberOf(entry, severity) ?? 0;
      return count === 0 ? [] : [`${formatCount(count)} ${severity}`];
    });
    return plain(`${parts.join(", ")}, ${formatTook(numberOf(entry, "tookMs") ?? 0)}`);
  },
  "flatline started": (entry) =>
    plain(
      `checking ${countOf(numberOf(entry, "organizations") ?? 0, "organization")}, source ${textOf(entry, "source")}`,
    ),
  "flatline stops": (entry) => {
    const running = numberOf(entry, "running") ?? 0;
    return plain(running === 0 ? "stopping" : `stopping, ${countOf(running, "check")} still running`);
  },
  "flatline stopped": () => plain("stopped"),
  "configuration reloaded": (entry) =>
    plain(`configuration reloaded, ${countOf(numberOf(entry, "organizations") ?? 0, "organization")}`),
  "events preloaded": (entry) =>
    plain(`${fileName(entry)}: ${counted(entry, "event")} of ${counted(entry, "organization")}`),
  "fixture preloaded": (entry) =>
    plain(`${fileName(entry)}: ${counted(entry, "report")}, ${counted(entry, "organization")}`),
  "incident opened": (entry) => plain(`incident ${numberOf(entry, "incident")} opened, ${textOf(entry, "family")}`),
  "incident ended": (entry) => plain(`incident ${numberOf(entry, "incident")} is over`),
  "fleet verdict holds": (entry) => ({
    word: "FAIL",
    name: "fleet",
    // Those that made it one.
    text: `incident ${numberOf(entry, "incident")}: ${countOf(numberOf(entry, "together") ?? 0, "organization")} began to spike within ${withinText(togetherMs)}, from one cause`,
  }),
  "notification formed": () => null,
  "notification delivered": (entry, { logReceivers }) => {
    const receiver = textOf(entry, "receiver");
    if (logReceivers.has(receiver)) return null;
    const attempts = numberOf(entry, "attempts") ?? 1;
    return {
      word: "",
      name: receiver,
      text: `notified${toRecipient(entry)}${attempts === 1 ? "" : `, at try ${attempts}`}`,
    };
  },
  "notification not accepted yet": (entry) => ({
    word: "WAITING",
    name: textOf(entry, "receiver"),
    text: `${failureText(entry)}, again in ${formatWait(Math.max(secondMs, numberOf(entry, "retryInMs") ?? 0))}`,
  }),
  "notification dead-lettered": (entry) => ({
    word: "GIVEN UP",
    name: textOf(entry, "receiver"),
    text: `${failureText(entry)}, now a dead letter`,
  }),
  // What a receiver of type log writes.
  "alert firing": (entry) => ({ ...severityRow(entry), text: noticeText(entry) }),
  "alert resolved": (entry) => ({ word: "OK", name: textOf(entry, "slug"), text: noticeText(entry) }),
  "test notification": (entry) => plain(`${textOf(entry, "receiver")}: a test notification`),
  "fleet verdict: one cause": (entry) => ({
    word: textOf(entry, "severity").toUpperCase(),
    name: "fleet",
    text: `${textOf(entry, "receiver")}: ${textOf(entry, "summary")}`,
  }),
  "fleet verdict resolved": (entry) => ({
    word: "OK",
    name: "fleet",
    text: `${textOf(entry, "receiver")}: ${textOf(entry, "summary")}`,
  }),
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
export function plainRow(entry: LogEntry): LogRow {
  const { time: _time, level, msg, room: _room, slug, receiver, err, ...facts } = entry;
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

function severityRow(entry: LogEntry): Omit<LogRow, "text"> {
  return { word: textOf(entry, "severity").toUpperCase(), name: textOf(entry, "slug") };
}

/** What a run gave: deaths, or why there is no result; of another check than the spike check its name first. */
function resultText(entry: LogEntry): string {
  const check = textOf(entry, "check");
  const of = check === "dead-asset-spike" ? "" : check;
  const what =
    typeof entry["reason"] === "string"
      ? `no result: ${textOf(entry, "message")} (${entry["reason"]})`
      : deathsOf(entry, "currentCount", "expectedCount");
  return [of, what].filter((part) => part !== "").join(": ");
}

function deathsOf(entry: LogEntry, count: string, expected: string): string {
  const [currentCount, expectedCount, ratio] = [count, expected, "ratio"].map((fact) => numberOf(entry, fact));
  const counts = { currentCount: currentCount ?? null, expectedCount: expectedCount ?? null, ratio: ratio ?? null };
  return deathWords({ ...counts, counting: entry["counting"] === "assets" ? "assets" : "deaths" }) ?? "";
}

const alertReasons: Readonly<Record<string, string>> = {
  for_elapsed: "not ok for as long as `for`",
  keep_firing_for_elapsed: "ok for as long as `keepFiringFor`",
  unknown_after_reached: "`unknownAfter` runs without a result",
  organization_removed: "no longer configured",
  check_removed: "the check is switched off",
};

function alertText(entry: LogEntry, hasEnded: boolean): string {
  const check = textOf(entry, "check");
  const reason = textOf(entry, "reason");
  const of = check === "dead-asset-spike" ? "" : `${check}: `;
  return `${of}the alert ${hasEnded ? "has ended" : "fires"}, ${alertReasons[reason] ?? reason}`;
}

function noticeText(entry: LogEntry): string {
  const check = textOf(entry, "check");
  const deaths = deathsOf(entry, "count", "expected");
  const what = [check === "dead-asset-spike" ? "" : check, deaths, textOf(entry, "error")].filter(
    (part) => part !== "",
  );
  return `${textOf(entry, "receiver")}: ${[textOf(entry, "event"), ...what].join(", ")}`;
}

function toRecipient(entry: LogEntry): string {
  const recipient = textOf(entry, "recipient");
  return recipient === "" ? "" : ` (${recipient})`;
}

// What a receiver answered may be long, and what follows it is to be seen.
const shownError = 40;

function failureText(entry: LogEntry): string {
  const tries = countOf(numberOf(entry, "attempts") ?? 1, "try", "tries");
  return `${cutText(textOf(entry, "error"), shownError)}${toRecipient(entry)}, ${tries}`;
}

function formatTook(ms: number): string {
  return ms < 60_000 ? `in ${(ms / 1_000).toFixed(1)} s` : `in ${formatLength(ms)}`;
}

function fileName(entry: LogEntry): string {
  return basename(textOf(entry, "file"));
}

function counted(entry: LogEntry, noun: string): string {
  return countOf(numberOf(entry, `${noun}s`) ?? 0, noun);
}

function plain(text: string): LogRow {
  return { word: "", name: "", text };
}

function textOf(entry: LogEntry, fact: string): string {
  const value = entry[fact];
  return typeof value === "string" ? value : "";
}

function numberOf(entry: LogEntry, fact: string): number | null {
  const value = entry[fact];
  return typeof value === "number" ? value : null;
}
