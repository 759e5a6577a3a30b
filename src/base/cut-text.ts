/** Returns at most `maxLength` UTF-16 units of the text, with an ellipsis at the end if it was cut. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Never cut a surrogate pair in half.
  const kept = text.slice(0, Math.max(0, maxLength - 1)).replace(/[\uD800-\uDBFF]$/, "");
  // Copies the bytes: a slice of a string keeps the whole string in memory.
  return `${Buffer.from(kept).toString()}…`;
}

/** Quotes and shortens a text for a message. */
export function excerpt(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** Returns whether a text has at most so many characters, counted as Unicode code points: an emoji is one. */
export function hasAtMost(text: string, most: number): boolean {
  if (text.length <= most) return true;
  return text.length <= 2 * most && Array.from(text).length <= most;
}

/** Returns the first characters of a text, counted so. */
export function firstCharacters(text: string, most: number): string {
  return hasAtMost(text, most) ? text : Array.from(text).slice(0, most).join("");
}
