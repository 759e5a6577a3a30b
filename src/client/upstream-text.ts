import { firstCharacters, hasAtMost, plainText } from "../base/outside-text.ts";
import { mapTexts } from "../base/json.ts";
import { holdsSecret, redact, type Secret } from "../base/secret.ts";

// One log line.
const longestQuote = 300;
const mostIssues = 20;
// A valid answer has about six levels; thousands would exhaust the stack.
const deepest = 64;
// A shorter key occurs in ordinary words ("key", "acme"): redacting it would change the answer.
const shortestRedacted = 8;

/** Returns upstream text for display: without the key, on one line, at most 300 characters. */
export function quoteUpstream(text: string, apiKey: Secret): string {
  const line = plainText(redact(text, [apiKey]));
  return hasAtMost(line, longestQuote) ? line : `${firstCharacters(line.slice(0, 2 * longestQuote), longestQuote)}…`;
}

/** Returns the first twenty issues of an error body, each as `quoteUpstream`. */
export function quoteIssues(issues: readonly string[], apiKey: Secret): string[] {
  const quoted = issues.slice(0, mostIssues).map((issue) => quoteUpstream(issue, apiKey));
  if (issues.length > mostIssues) quoted.push(`and ${issues.length - mostIssues} more`);
  return quoted;
}

/** Parses JSON and redacts the key in it; undefined: it is none, or has more than 64 levels. */
export function parseJson(text: string, apiKey: Secret): unknown {
  const secrets = apiKey.reveal().length < shortestRedacted ? [] : [apiKey];
  try {
    const json: unknown = JSON.parse(text);
    // Without an escape, each string is in the text literally: a key that is not in the text is in no string.
    const isClean = !text.includes("\\") && !holdsSecret(text, secrets);
    if (!isWithin(json, deepest)) return undefined;
    return isClean ? json : mapTexts(json, (one) => redact(one, secrets));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  for (const name in value) if (!isWithin((value as Record<string, unknown>)[name], levels - 1)) return false;
  return true;
}
