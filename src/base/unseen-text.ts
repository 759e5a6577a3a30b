/**
 * DEL and the C1 controls, which JSON leaves as they are and some terminals obey; what turns the direction of writing around
 * (Unicode's Bidi_Control); the separators that end a line for some readers only.
 */
export const unseen = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex -- they are what is escaped
const acting = /[\u0000-\u0008\u000b-\u001f]/g;

/**
 * Returns `text` with the characters that nobody sees, but a terminal or a reader's eye is misled by, as `\u202e`. In JSON that
 * is the same value. The C0 controls stay: JSON has no raw ones, and tables and colours are made of them.
 */
export function escapeUnseen(text: string): string {
  return text.replace(unseen, escapeCharacter);
}

/** As escapeUnseen, and the C0 controls but for tab and line end: for a message that may quote anybody. */
export function escapeControls(text: string): string {
  return escapeUnseen(text).replace(acting, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
