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
