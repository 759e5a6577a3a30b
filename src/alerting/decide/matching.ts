import type { Matcher } from "../../contract/silence.ts";

/** What a matcher looks at. */
export interface Subject {
  readonly slug: string;
  readonly check: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether every key of the matcher fits: exact, or with `*` for any run of characters; case matters (CONTRACT 7). */
export function matches(matcher: Matcher, subject: Subject): boolean {
  if (matcher.slug !== undefined && !matchesText(matcher.slug, subject.slug)) return false;
  if (matcher.check !== undefined && !matchesText(matcher.check, subject.check)) return false;
  for (const [name, pattern] of Object.entries(matcher.labels ?? {})) {
    const value = Object.hasOwn(subject.labels, name) ? subject.labels[name] : undefined;
    if (value === undefined || !matchesText(pattern, value)) return false;
  }
  return true;
}

/** Whether `text` fits the pattern, in time that grows with their lengths only: a pattern is no regular expression. */
export function matchesText(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let position = first.length;
  const endsAt = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, position);
    if (found === -1 || found + part.length > endsAt) return false;
    position = found + part.length;
  }
  return true;
}
