import { known } from "../document/accepted.ts";
import type { ConfigPlaces } from "../document/places.ts";
import type { Problem } from "../document/problems.ts";
import { partsOf, type WrittenConfig } from "./written.ts";

/** Of a webhook that does not say otherwise. */
export const defaultContentType = "application/json";

/** What is wrong with a webhook's template for that content type, in words that follow its path; null when nothing is. */
export type TemplateCheck = (template: string, contentType: string) => Promise<string | null>;

/** Returns what is wrong with the templates of webhooks; without a `check` only their grammar is looked at. */
export async function checkTemplates(
  config: WrittenConfig,
  places: ConfigPlaces,
  check: TemplateCheck = checkGrammar,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { path, value } of partsOf(config.receivers, ["receivers"])) {
    const template = value.type === "webhook" ? known(value.template) : undefined;
    if (value.type !== "webhook" || template === undefined) continue;
    const problem = await check(template, known(value.contentType) ?? defaultContentType);
    if (problem !== null) problems.push(places.problemAt([...path, "template"], problem));
  }
  return problems;
}

async function checkGrammar(template: string): Promise<string | null> {
  // Loaded only when a template is configured: most commands start without it.
  const { Liquid } = await import("liquidjs");
  try {
    new Liquid({ templates: {} }).parse(template);
    return null;
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
    return `is no valid Liquid template: ${reason}`;
  }
}
