/**
 * DEL and the C1 controls, which JSON leaves unescaped and some terminals obey; Unicode's Bidi_Control characters,
 * which reverse the direction of text; separators that some readers treat as line ends.
 */
export const unseen = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex -- they are what is escaped
const acting = /[\u0000-\u0008\u000b-\u001f]/g;

/** Replaces each invisible character with a blank, C0 controls included. */
export function blankUnseen(text: string): string {
  return text.replace(unseen, " ").replace(acting, " ");
}

/** Returns outside text on one line: well formed, without invisible characters, spaces folded. */
export function plainText(text: string): string {
  return blankUnseen(text.toWellFormed()).replaceAll(/\s+/g, " ").trim();
}

/** Escapes misleading invisible characters as `\u202e`, but not the C0 controls, which format tables. */
export function escapeUnseen(text: string): string {
  return text.replace(unseen, escapeCharacter);
}

/** Like escapeUnseen, and escapes the C0 controls except tab and line feed: for outside text in messages. */
export function escapeControls(text: string): string {
  return escapeUnseen(text).replace(acting, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

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
