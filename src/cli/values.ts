import { InvalidArgumentError } from "commander";
import { readInstant } from "../base/instant.ts";
import { formatCount } from "../base/numbers.ts";
import type { Severity } from "../contract/severity.ts";
import { iso } from "../contract/v1/instant.ts";
import { parseDuration } from "../base/durations.ts";

/**
 * Returns a time from the command line as epoch ms: ISO 8601 with an offset or Z, or whole milliseconds. A date that
 * the calendar does not have, such as `2026-11-31`, is an error.
 */
export function parseInstant(text: string): number {
  const reading = readInstant(text);
  if (typeof reading === "number") return reading;
  throw new InvalidArgumentError(
    `${reading}. Expected a time like 2026-01-15T12:00:00Z, or milliseconds since the epoch.`,
  );
}

/** Returns a time from the command line in the form of the HTTP API. */
export function parseTime(text: string): string {
  return iso(parseInstant(text));
}

const numbers = {
  int: {
    problem: "Expected a whole number of at least 1.",
    is: (found: number) => Number.isSafeInteger(found) && found >= 1,
  },
  positive: { problem: "Expected a number above 0.", is: (found: number) => Number.isFinite(found) && found > 0 },
  "at least 0": { problem: "Expected a number of at least 0.", is: (found: number) => Number.isFinite(found) },
};

/** Returns a parser of a number: `int` is a safe integer of at least 1, all others are finite. */
export function parseNumber(kind: keyof typeof numbers): (text: string) => number {
  return (text) => {
    const found = /^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    if (numbers[kind].is(found)) return found;
    throw new InvalidArgumentError(numbers[kind].problem);
  };
}

/** Returns a length of time above 0 as milliseconds: `30s`, `1h30m`, `2d`. */
export function parseDurationMs(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs === null || durationMs === 0) {
    throw new InvalidArgumentError("Expected a length of time such as 30s, 90m, 2h or 1d.");
  }
  return durationMs;
}

/** Collects the values of a repeatable flag. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Exit codes of `check` and `status` by the worst severity (CONTRACT 3). */
export const severityExitCodes: Readonly<Record<Severity, number>> = { ok: 0, warn: 1, fail: 2, unknown: 3 };

/** Returns a value as every command prints it with `--json`. */
export function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Returns at most `most` names and the number of the others. */
export function namesText(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
}
