/** Markup that may stand in a page as it is. */
export interface Html {
  readonly html: string;
}

type Part = Html | string | number | null | readonly (Html | string | null)[];

/** Markup from a template: what is put into it is text and escaped, unless it is markup itself. null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? "";
  for (const [index, part] of parts.entries()) text += markup(part) + (strings[index + 1] ?? "");
  return { html: text };
}

/** Nothing. */
export const nothing: Html = { html: "" };

/** Text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}

function markup(part: Part): string {
  if (part === null) return "";
  if (typeof part === "number") return String(part);
  if (typeof part === "string") return escapeHtml(part);
  return "html" in part ? part.html : part.map((one) => markup(one)).join("");
}
