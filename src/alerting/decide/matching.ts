import { matchesText } from "../../base/text-pattern.ts";
import type { Matcher } from "../../contract/silence.ts";

export interface Subject {
  readonly slug: string;
  readonly check: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns whether all keys match, with case (CONTRACT 7). `*` matches any run of characters, `\*` a star. */
export function matches(matcher: Matcher, subject: Subject): boolean {
  if (matcher.slug !== undefined && !matchesText(matcher.slug, subject.slug)) return false;
  if (matcher.check !== undefined && !matchesText(matcher.check, subject.check)) return false;
  for (const [name, pattern] of Object.entries(matcher.labels ?? {})) {
    const value = Object.hasOwn(subject.labels, name) ? subject.labels[name] : undefined;
    if (value === undefined || !matchesText(pattern, value)) return false;
  }
  return true;
}
