/** Returns at most `maxLength` UTF-16 units; an ellipsis shows that the text was cut. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Never cuts a surrogate pair in half.
  const kept = text.slice(0, Math.max(0, maxLength - 1)).replace(/[\uD800-\uDBFF]$/, "");
  // A copy: a slice would keep the whole string in memory.
  return `${Buffer.from(kept).toString()}…`;
}

/** Quotes and shortens a text for a message. */
export function excerpt(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** Counts Unicode code points: an emoji is one. */
export function hasAtMost(text: string, most: number): boolean {
  return text.length <= most || (text.length <= 2 * most && Array.from(text).length <= most);
}

/** Counts Unicode code points, as {@link hasAtMost} does. */
export function firstCharacters(text: string, most: number): string {
  return hasAtMost(text, most) ? text : Array.from(text).slice(0, most).join("");
}
