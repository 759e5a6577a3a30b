import { escapeUnseen, unseen } from "../../base/unseen-text.ts";

/** Safe markup. */
export interface Html {
  readonly html: string;
}

const special = new RegExp(`[&<>"']|${unseen.source}`, "g");

type Part = Html | string | number | null | readonly (Html | string | null)[];

/** Renders a template; every part but `Html` is escaped, and null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? "";
  for (const [index, part] of parts.entries()) text += markup(part, text) + (strings[index + 1] ?? "");
  return { html: text };
}

export const nothing: Html = { html: "" };

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replace(special, (found) => `&#${found.charCodeAt(0)};`);
}

/** `before` is the markup in front of it: attributes keep their value, text shows invisible characters. */
function markup(part: Part, before: string): string {
  if (part === null) return "";
  if (typeof part === "number") return String(part);
  if (typeof part !== "string") return "html" in part ? part.html : part.map((one) => markup(one, before)).join("");
  const visible = escapeUnseen(part);
  return escapeHtml(visible === part || isInTag(before) ? part : visible);
}

/** Returns whether markup ends inside a tag, also if the tag begins in an outer template. */
function isInTag(before: string): boolean {
  return before.lastIndexOf("<") > before.lastIndexOf(">") || /=["'][^"'<>]*$/.test(before);
}
