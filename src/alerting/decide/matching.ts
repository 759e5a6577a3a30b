import { matchesText } from "../../base/text-pattern.ts";
import type { Matcher } from "../../contract/silence.ts";

/** What a matcher looks at. */
export interface Subject {
  readonly slug: string;
  readonly check: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns whether every key of the matcher fits: exact, or with `*` for any run of characters, `\*` is a star; case matters (CONTRACT 7). */
export function matches(matcher: Matcher, subject: Subject): boolean {
  if (matcher.slug !== undefined && !matchesText(matcher.slug, subject.slug)) return false;
  if (matcher.check !== undefined && !matchesText(matcher.check, subject.check)) return false;
  for (const [name, pattern] of Object.entries(matcher.labels ?? {})) {
    const value = Object.hasOwn(subject.labels, name) ? subject.labels[name] : undefined;
    if (value === undefined || !matchesText(pattern, value)) return false;
  }
  return true;
}
