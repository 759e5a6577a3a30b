import type { ConfigDocument } from "../document/document.ts";
import type { Problem } from "../document/problems.ts";
import { problemAt, valueAt } from "./validation.ts";

/** Of a webhook that does not say otherwise. */
export const defaultContentType = "application/json";

/** What is wrong with a webhook's template for that content type, in words that follow its path; null when nothing is. */
export type TemplateCheck = (template: string, contentType: string) => Promise<string | null>;

/** What is wrong with the templates of webhooks; without a `check` only their grammar is looked at. */
export async function checkTemplates(main: ConfigDocument, check: TemplateCheck = checkGrammar): Promise<Problem[]> {
  const receivers = valueAt(main.value, ["receivers"]);
  if (!Array.isArray(receivers)) return [];
  const problems: Problem[] = [];
  for (const index of receivers.keys()) {
    const path = ["receivers", index, "template"];
    const template = valueAt(main.value, path);
    if (typeof template !== "string") continue;
    const contentType = valueAt(main.value, ["receivers", index, "contentType"]);
    const problem = await check(template, typeof contentType === "string" ? contentType : defaultContentType);
    if (problem !== null) problems.push(problemAt(main, path, problem));
  }
  return problems;
}

async function checkGrammar(template: string): Promise<string | null> {
  // Loaded only when somebody has a template: most commands start without it.
  const { Liquid } = await import("liquidjs");
  try {
    new Liquid({ templates: {} }).parse(template);
    return null;
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
    return `is no valid Liquid template: ${reason}`;
  }
}
