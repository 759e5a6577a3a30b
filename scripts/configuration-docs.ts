import { format } from "prettier";

import { createJsonSchema } from "../src/config/schema/json-schema.ts";
import { renderReference } from "./configuration-reference.ts";

const begin = "<!-- reference: begin; made by npm run generate -->";
const end = "<!-- reference: end -->";

/** docs/configuration.md with its reference made anew between its two marks; the rest is written by hand. */
export async function refreshConfigurationDocs(markdown: string): Promise<string> {
  const from = markdown.indexOf(begin);
  const to = markdown.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/configuration.md needs the marks ${begin} and ${end}`);
  const reference = renderReference(createJsonSchema());
  const fresh = `${markdown.slice(0, from)}${begin}\n\n${reference}\n\n${markdown.slice(to)}`;
  return format(fresh, { parser: "markdown", printWidth: 120 });
}
