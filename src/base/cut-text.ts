/** At most `maxLength` UTF-16 units (so at most as many characters), with an ellipsis where something is missing. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Whole characters only: half of a pair is no text.
  const kept = text.slice(0, Math.max(0, maxLength - 1)).replace(/[\uD800-\uDBFF]$/, "");
  // By way of bytes: V8 would keep the whole text in memory for as long as a slice of it.
  return `${Buffer.from(kept).toString()}…`;
}
