/** Returns whether `text` matches the pattern, in time proportional to their lengths: a pattern is not a regular expression. */
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

/** Returns whether `outer` matches every text that `inner` matches. */
export function coversPattern(outer: string, inner: string): boolean {
  // Each star of `inner` stands for any text, also for this one, which no star but one of `outer` can match; and a star that
  // matches it matches any other in its place.
  return matchesText(outer, inner.replaceAll("*", "\u0000"));
}
