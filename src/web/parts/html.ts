import { escapeUnseen, unseen } from "../../base/unseen-text.ts";

/** Markup that may stand in a page as it is. */
export interface Html {
  readonly html: string;
}

const special = new RegExp(`[&<>"']|${unseen.source}`, "g");

type Part = Html | string | number | null | readonly (Html | string | null)[];

/** Markup from a template: what is put into it is text and escaped, unless it is markup itself. null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? "";
  for (const [index, part] of parts.entries()) text += markup(part, text) + (strings[index + 1] ?? "");
  return { html: text };
}

/** Nothing. */
export const nothing: Html = { html: "" };

/** Text for an element or a quoted attribute, of the same value. */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replace(special, (found) => `&#${found.charCodeAt(0)};`);
}

/** `before` is the markup that it follows: an attribute keeps its value, text shows unseen characters. */
function markup(part: Part, before: string): string {
  if (part === null) return "";
  if (typeof part === "number") return String(part);
  if (typeof part !== "string") return "html" in part ? part.html : part.map((one) => markup(one, before)).join("");
  const visible = escapeUnseen(part);
  return escapeHtml(visible === part || isInTag(before) ? part : visible);
}

/** Also where the tag itself begins in the markup that this is put into. */
function isInTag(before: string): boolean {
  return before.lastIndexOf("<") > before.lastIndexOf(">") || /=["'][^"'<>]*$/.test(before);
}
