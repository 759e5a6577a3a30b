/**
 * DEL and the C1 controls, which JSON leaves unescaped and some terminals obey; Unicode's Bidi_Control characters,
 * which reverse the direction of text; separators that some readers treat as a line end.
 */
export const unseen = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex -- they are what is escaped
const acting = /[\u0000-\u0008\u000b-\u001f]/g;

/** Puts a blank in the place of each invisible character, of the C0 controls too. */
export function blankUnseen(text: string): string {
  return text.replace(unseen, " ").replace(acting, " ");
}

/** Text of others on one line: well formed, without characters that act, spaces folded. */
export function plainText(text: string): string {
  return blankUnseen(text.toWellFormed()).replaceAll(/\s+/g, " ").trim();
}

/** Escapes invisible characters that mislead a reader as `\u202e`; the C0 controls stay, of which tables are made. */
export function escapeUnseen(text: string): string {
  return text.replace(unseen, escapeCharacter);
}

/** Like escapeUnseen, and also escapes the C0 controls except tab and line feed: for messages that quote outside text. */
export function escapeControls(text: string): string {
  return escapeUnseen(text).replace(acting, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
