import { isIP } from "node:net";

import { z } from "zod";

import { hasAtMost } from "../cut-text.ts";
import { readInstant } from "../instant.ts";
import { checkCronPattern } from "./cron-dialect.ts";
import { durationPattern, formatDuration, parseDuration } from "../durations.ts";
import { suggest } from "../suggestions.ts";
import { minuteMs, secondMs } from "../time.ts";
import { timezoneOf } from "../timezone.ts";

/** The longest time that a source or a receiver may be waited for. */
export const longestTimeoutMs = 10 * minuteMs;
/** The shortest interval at which anything is sent again and again. */
export const shortestIntervalMs = secondMs;

/** Returns an object whose every key is known; of others `foreign` has the reason, else the nearest one is named. */
export function strictObject<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  where = "",
  foreign: Readonly<Record<string, string>> = {},
) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys" || !Array.isArray(issue["keys"])) return undefined;
      return issue["keys"]
        .map((key: string) => (Object.hasOwn(foreign, key) ? foreign[key] : describeUnknownKey(key, known, where)))
        .join("\n");
    },
  });
}

/** A problem of one key of an object; null: of the object. It is shown at the key where `part` says so, else at the value. */
export interface KeyProblem {
  readonly key: string | null;
  readonly message: string;
  readonly part?: "key";
}

/** Adds problems of an object's keys to what a schema found. */
export function addProblems(context: z.RefinementCtx, problems: readonly KeyProblem[]): void {
  for (const { key, message, part } of problems)
    context.addIssue({ code: "custom", message, path: key === null ? [] : [key], params: { part } });
}

function describeUnknownKey(key: string, known: readonly string[], where: string): string {
  if (key === "<<") return "merge keys are not part of YAML 1.2";
  return `unknown key${where}${suggest(key, known)}`;
}

/** Under this name a schema's metadata says the bounds that no keyword of JSON Schema can: those of a duration. */
export const limitsKeyword = "limits";

const durationProblem = 'must be a duration such as "500ms", "30s", "5m", "4h" or "1d"';

/** Returns a duration that is written as text, `500ms`, `30s` or `1h30m`, and read as milliseconds. */
export function duration(minMs: number, maxMs: number) {
  const text = z
    .string({ error: durationProblem })
    .superRefine((written, context) => {
      const durationMs = parseDuration(written);
      if (durationMs === null) return context.addIssue(durationProblem);
      if (durationMs < minMs) context.addIssue(`must be at least ${formatDuration(minMs)}`);
      if (durationMs > maxMs) context.addIssue(`must be at most ${formatDuration(maxMs)}`);
    })
    .meta({
      pattern: durationPattern,
      examples: ["30s", "5m", "4h", "1d"],
      [limitsKeyword]: `${minMs === 0 ? "At most" : `From ${formatDuration(minMs)} to`} ${formatDuration(maxMs)}.`,
    });
  // NaN, which no number is, for a text that is no duration: the text was refused already.
  return z.codec(text, z.number(), {
    decode: (written) => parseDuration(written) ?? Number.NaN,
    encode: formatDuration,
  });
}

/** Returns a text of which a check says what is wrong; null: nothing is. */
export function checkedText(check: (text: string) => string | null) {
  return z.string().superRefine((text, context) => {
    const problem = check(text);
    if (problem !== null) context.addIssue(problem);
  });
}

export const cronPattern = checkedText(checkCronPattern);

/** A name of the time zone database that this Node knows. */
export const timezone = checkedText((text) => {
  try {
    // Intl takes "+01:00" too, which is an offset and no zone.
    if (/^[A-Za-z]/.test(text)) {
      timezoneOf(text);
      return null;
    }
  } catch {
    // The names are listed for a wrong one only.
  }
  const known = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  return `${JSON.stringify(text)} is not a known timezone${suggest(text, known)}`;
});

const controlCharacter = /\p{Cc}/u;

/** Returns a name of an organization or a receiver: some text on one line, without blanks around it. */
export function nameText(maxLength = 256) {
  return checkedText((text) => {
    if (text === "") return "must not be empty";
    if (text !== text.trim()) return "must not begin or end with a blank";
    if (controlCharacter.test(text)) return "must not hold control characters";
    return hasAtMost(text, maxLength) ? null : `must be at most ${maxLength} characters long`;
  }).meta({ minLength: 1, maxLength });
}

export function textUpTo(most: number) {
  return z
    .string()
    .refine((text) => hasAtMost(text, most), `must be at most ${most} characters long`)
    .meta({ maxLength: most });
}

/** The path of a file; what it is relative to is the key's own matter. */
export const filePath = checkedText((text) => {
  if (text.trim() === "") return "must name a file";
  return text.includes("\0") ? "must not hold control characters" : null;
}).meta({ minLength: 1 });

/** Returns the fault of an address of HTTP; null when nothing is. Never shows it: it may be a secret. */
export function checkHttpUrl(text: string, protocols: readonly string[] = ["http:", "https:"]): string | null {
  const wanted = protocols.map((protocol) => `${protocol}//`).join(" or ");
  // The URL parser drops blanks and line ends silently, and repairs a URL without a host.
  if (/\s/.test(text) || controlCharacter.test(text) || !URL.canParse(text))
    return `must be an address that begins with ${wanted}`;
  const url = new URL(text);
  if (!protocols.includes(url.protocol) || !text.slice(url.protocol.length).startsWith("//")) {
    return `must be an address that begins with ${wanted}`;
  }
  return url.hostname === "" ? "must name a host" : null;
}

export const httpUrl = checkedText(checkHttpUrl).meta({ format: "uri" });

/** Epoch milliseconds of an ISO 8601 time with an offset or Z; null when it is none, or no date of the calendar. */
export function parseInstant(text: string): number | null {
  if (!/^\d{4}-/.test(text)) return null;
  const reading = readInstant(text);
  return reading.kind === "instant" ? reading.atMs : null;
}

/** Returns a point in time, which is written as text and read as epoch milliseconds. */
export function instant() {
  const problem = "must be a real time of the years 1970 to 9999 with Z or an offset, such as 2026-01-31T12:00:00Z";
  const text = checkedText((text) => (parseInstant(text) === null ? problem : null)).meta({ format: "date-time" });
  return z.codec(text, z.number(), {
    decode: (text) => parseInstant(text) ?? Number.NaN,
    encode: (atMs) => new Date(atMs).toISOString(),
  });
}

export function wholeNumber(min: number, max: number) {
  return z.int().min(min).max(max);
}

/** An address of IP, or a range of them: `10.0.0.0/8`. */
export const addressRange = checkedText((text) => {
  const [, address = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  const isRange = family !== 0 && Number(length ?? 0) <= (family === 4 ? 32 : 128);
  return isRange ? null : 'must be an IP address, or a range of them such as "10.0.0.0/8"';
});

/** What the name of a header may hold (RFC 9110, 5.1). */
export const headerNamePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export const headerName = checkedText((text) => {
  if (!headerNamePattern.test(text)) return "must be the name of a header";
  return text.toLowerCase() === "authorization" ? "must not be Authorization, which carries tokens" : null;
});

const listenPattern = /^(|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]):(\d+)$/;

/** `HOST:PORT` to listen on, as it is meant: `:9640` is every address; null when it is none. */
export function parseListen(text: string): string | null {
  const [, host, port = ""] = listenPattern.exec(text) ?? [];
  if (host === undefined || port.length > 5 || Number(port) > 65_535) return null;
  return host === "" ? `0.0.0.0:${port}` : text;
}

/** Returns what is wrong with a text that `parseListen` refuses. */
export function listenProblem(text: string): string {
  const port = listenPattern.exec(text)?.[2];
  if (port !== undefined) return `must have a port from 0 to 65535, not ${port.slice(0, 20)}`;
  return 'must be HOST:PORT such as "127.0.0.1:9640" or "[::1]:9640"';
}

export const listenAddress = checkedText((text) => (parseListen(text) === null ? listenProblem(text) : null));
