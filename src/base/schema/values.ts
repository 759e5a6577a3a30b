import { isIP } from "node:net";

import { z } from "zod";

import { hasAtMost } from "../outside-text.ts";
import { readInstant } from "../instant.ts";
import { checkCronPattern } from "../cron.ts";
import { durationPattern, formatDuration, parseDuration } from "../durations.ts";
import { suggest } from "../suggestions.ts";
import { minuteMs, secondMs } from "../time.ts";
import { timezoneOf } from "../timezone.ts";

/** The longest timeout of a source or a receiver. */
export const longestTimeoutMs = 10 * minuteMs;
/** The shortest interval at which anything is sent repeatedly. */
export const shortestIntervalMs = secondMs;

/** An object without unknown keys; `foreign` has the reason for some of them, others get the nearest name. */
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

/** A problem of one key; null: of the object. `part: "key"` shows it at the key, else it is at the value. */
export interface KeyProblem {
  readonly key: string | null;
  readonly message: string;
  readonly part?: "key";
}

export function addProblems(context: z.RefinementCtx, problems: readonly KeyProblem[]): void {
  for (const { key, message, part } of problems)
    context.addIssue({ code: "custom", message, path: key === null ? [] : [key], params: { part } });
}

function describeUnknownKey(key: string, known: readonly string[], where: string): string {
  if (key === "<<") return "merge keys are not part of YAML 1.2";
  return `unknown key${where}${suggest(key, known)}`;
}

/** Metadata under this name has the bounds of a duration, for which JSON Schema has no keyword. */
export const limitsKeyword = "limits";

const durationProblem = 'must be a duration such as "500ms", "30s", "5m", "4h" or "1d"';

/** A duration: text such as `500ms`, `30s` or `1h30m`, read as milliseconds. */
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
  // NaN for a text that is refused already.
  return z.codec(text, z.number(), {
    decode: (written) => parseDuration(written) ?? Number.NaN,
    encode: formatDuration,
  });
}

/** A text; `check` returns its problem, or null. */
export function checkedText(check: (text: string) => string | null) {
  return z.string().superRefine((text, context) => {
    const problem = check(text);
    if (problem !== null) context.addIssue(problem);
  });
}

export const cronPattern = checkedText(checkCronPattern);

/** A name of Node's time zone database. */
export const timezone = checkedText((text) => {
  try {
    // Intl takes "+01:00" too, an offset.
    if (/^[A-Za-z]/.test(text)) {
      timezoneOf(text);
      return null;
    }
  } catch {
    // Only a wrong name needs the list of names.
  }
  const known = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const ofCity = known.find((one) => one.endsWith(`/${text}`));
  return `${JSON.stringify(text)} is not a known timezone${suggest(ofCity ?? text, known)}`;
});

const controlCharacter = /\p{Cc}/u;

/** A name of an organization or a receiver: text on one line, without blanks around it. */
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

/** A path of a file; each key says what it is relative to. */
export const filePath = checkedText((text) => {
  if (text.trim() === "") return "must name a file";
  return text.includes("\0") ? "must not hold control characters" : null;
}).meta({ minLength: 1 });

/** Returns the fault of an HTTP address; null: there is none. Never shows the address, which may be a secret. */
export function checkHttpUrl(text: string, protocols: readonly string[] = ["http:", "https:"]): string | null {
  const wanted = protocols.map((protocol) => `${protocol}//`).join(" or ");
  // The URL parser silently drops blanks and line ends, and repairs a URL without a host.
  if (/\s/.test(text) || controlCharacter.test(text) || !URL.canParse(text))
    return `must be an address that begins with ${wanted}`;
  const url = new URL(text);
  if (!protocols.includes(url.protocol) || !text.slice(url.protocol.length).startsWith("//")) {
    return `must be an address that begins with ${wanted}`;
  }
  return url.hostname === "" ? "must name a host" : null;
}

export const httpUrl = checkedText(checkHttpUrl).meta({ format: "uri" });

/** A point in time: ISO 8601 with an offset or Z, read as epoch ms. */
export function instant() {
  // Other texts are NaN, epoch ms too: people do not write them.
  const parse = (text: string): number => (/^\d{4}-/.test(text) ? Number(readInstant(text)) : Number.NaN);
  const problem = "must be a real time of the years 1970 to 9999 with Z or an offset, such as 2026-01-31T12:00:00Z";
  const text = checkedText((text) => (Number.isNaN(parse(text)) ? problem : null)).meta({ format: "date-time" });
  return z.codec(text, z.number(), {
    decode: parse,
    encode: (atMs) => new Date(atMs).toISOString(),
  });
}

export function wholeNumber(min: number, max: number) {
  return z.int().min(min).max(max);
}

/** An IP address, or a range: `10.0.0.0/8`. */
export const addressRange = checkedText((text) => {
  const [, address = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  const isRange = family !== 0 && Number(length ?? 0) <= (family === 4 ? 32 : 128);
  return isRange ? null : 'must be an IP address, or a range of them such as "10.0.0.0/8"';
});

/** RFC 9110, 5.1. */
export const headerNamePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export const headerName = checkedText((text) => {
  if (!headerNamePattern.test(text)) return "must be the name of a header";
  return text.toLowerCase() === "authorization" ? "must not be Authorization, which carries tokens" : null;
});

const listenPattern = /^(|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]):(\d+)$/;

/** Completes `HOST:PORT` to listen on: `:9640` is every address; null: it is none. */
export function parseListen(text: string): string | null {
  const [, host, port = ""] = listenPattern.exec(text) ?? [];
  if (host === undefined || port.length > 5 || Number(port) > 65_535) return null;
  return host === "" ? `0.0.0.0:${port}` : text;
}

/** Returns the fault of a text that `parseListen` refuses. */
export function listenProblem(text: string): string {
  const port = listenPattern.exec(text)?.[2];
  if (port !== undefined) return `must have a port from 0 to 65535, not ${port.slice(0, 20)}`;
  return 'must be HOST:PORT such as "127.0.0.1:9640" or "[::1]:9640"';
}

export const listenAddress = checkedText((text) => (parseListen(text) === null ? listenProblem(text) : null));
