import type { ConfigDocument } from "./document.ts";
import type { Problem } from "./problems.ts";
import { problemAt, valueAt } from "./validation.ts";

/** What is wrong with the Liquid templates of webhooks; nothing is rendered, and no file read. */
export async function checkTemplates(main: ConfigDocument): Promise<Problem[]> {
  const receivers = valueAt(main.value, ["receivers"]);
  if (!Array.isArray(receivers)) return [];
  const problems: Problem[] = [];
  for (const index of receivers.keys()) {
    const path = ["receivers", index, "template"];
    const template = valueAt(main.value, path);
    if (typeof template !== "string") continue;
    const problem = await checkTemplate(template);
    if (problem !== null) problems.push(problemAt(main, path, problem));
  }
  return problems;
}

async function checkTemplate(template: string): Promise<string | null> {
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
