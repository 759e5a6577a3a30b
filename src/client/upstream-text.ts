import { holdsSecret, redact, type Secret } from "../base/secret.ts";

// C0, C1 and the bidirectional and line controls: a terminal or log must not obey what an upstream wrote.
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;
// One line of a log.
const longestQuote = 300;
const mostIssues = 20;
// An honest answer is some six levels deep; thousands would exhaust the stack of whoever walks it.
const deepest = 64;
// A shorter key is a part of ordinary words ("key", "acme"): an answer without them would be another answer.
const shortestRedacted = 8;

/** What an upstream said, fit to be shown: without the key, on one line, without control characters, at most 300 characters. */
export function quoteUpstream(text: string, apiKey: Secret): string {
  const line = redact(text, [apiKey]).replace(controls, " ").replace(/ {2,}/g, " ").trim();
  const characters = Array.from(line.slice(0, longestQuote * 2 + 2));
  return characters.length > longestQuote ? `${characters.slice(0, longestQuote).join("")}…` : line;
}

/** The issues of an error body, each as `quoteUpstream`, the first twenty. */
export function quoteIssues(issues: readonly string[], apiKey: Secret): string[] {
  const quoted = issues.slice(0, mostIssues).map((issue) => quoteUpstream(issue, apiKey));
  if (issues.length > mostIssues) quoted.push(`and ${issues.length - mostIssues} more`);
  return quoted;
}

/**
 * An answer as JSON, with the key replaced wherever it is echoed, in values and in names: they become log lines, labels
 * and notifications. Undefined when it is no JSON, or nested more than 64 levels deep.
 */
export function parseJson(text: string, apiKey: Secret): unknown {
  const secrets = apiKey.reveal().length < shortestRedacted ? [] : [apiKey];
  try {
    const json: unknown = JSON.parse(text);
    // A text without an escape says each string as it is: where the key is not in it, it is in none of them.
    const isClean = !text.includes("\\") && !holdsSecret(text, secrets);
    return isClean && isWithin(json, deepest) ? json : redactDeep(json, secrets, deepest);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Whether a value is nested at most so many levels deep. */
function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  for (const name in value) if (!isWithin((value as Record<string, unknown>)[name], levels - 1)) return false;
  return true;
}

function redactDeep(value: unknown, secrets: readonly Secret[], levels: number): unknown {
  if (typeof value === "string") return redact(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) throw new RangeError("nested too deeply");
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, secrets, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redact(name, secrets), redactDeep(item, secrets, levels - 1)]),
  );
}
