import { breakAddresses } from "../../base/broken-address.ts";
import { escapeControls } from "../../base/unseen-text.ts";

/**
 * Returns foreign text for a line of Markdown, as a code span: nothing in one is a link, an image, HTML or a mention, in no
 * dialect. Escaping each character was rejected: services look for mentions, addresses and issue numbers in what was rendered,
 * but not in code. A backtick becomes an apostrophe, because some chats know only spans of one backtick; `@` becomes `[at]` for
 * those that look for mentions in code, too.
 */
export function inertText(text: string): string {
  // Of one line: a blank one would end the span.
  const line = escapeControls(text.replaceAll(/\s+/g, " ").trim());
  const inert = breakAddresses(line).replaceAll("@", "[at]").replaceAll("`", "'");
  return inert === "" ? "–" : `\`${inert}\``;
}
