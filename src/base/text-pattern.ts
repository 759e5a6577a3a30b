// `*` matches any text; `\*` is a star and `\\` a backslash. Any other backslash is literal.
const tokens = /\\([\\*])|\*|[^\\*]+|\\/g;

/** Returns whether `text` matches the pattern, in time proportional to their lengths; a RegExp may take longer. */
export function matchesText(pattern: string, text: string): boolean {
  const parts = partsOf(pattern);
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return first === text;
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

/** Returns the pattern that matches only `text`: for names that no person wrote as a pattern. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\*]/g, String.raw`\$&`);
}

/** Returns the only text that the pattern matches; null: it matches more. */
export function literalOf(pattern: string): string | null {
  const [first = "", ...others] = partsOf(pattern);
  return others.length === 0 ? first : null;
}

function partsOf(pattern: string): readonly string[] {
  if (!pattern.includes("\\")) return pattern.split("*");
  const parts: string[] = [];
  let part = "";
  for (const [token, escaped] of pattern.matchAll(tokens)) {
    if (token !== "*") part += escaped ?? token;
    else {
      parts.push(part);
      part = "";
    }
  }
  return [...parts, part];
}
