import { asFlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { loadConfig, type LoadOptions } from "../config/load.ts";

/**
 * The configuration, with each webhook's template compiled and tried on a sample of every kind of notification: one that
 * would fail at the first alert is told with all other problems. @throws invalid_config
 */
export function loadCheckedConfig(options: Omit<LoadOptions, "checkTemplate">): Promise<Config> {
  return loadConfig({ ...options, checkTemplate });
}

const chats: readonly string[] = ["slack", "discord", "msteams", "email"];

/** What is no mistake, and still not what one would want: a sentence each. */
export function configNotes({ alerting, receivers, server }: Config): string[] {
  const names = receivers.filter(({ type }) => chats.includes(type)).map(({ name }) => name);
  if (alerting.externalUrl !== null) return [];
  const unused = "server.linkSecret signs no links while alerting.externalUrl is not set.";
  if (names.length === 0) return server.linkSecret === null ? [] : [unused];
  return [
    `alerting.externalUrl is not set: messages to ${names.join(", ")} have no link to the alert. Set it to the address by which people reach flatline.`,
  ];
}

async function checkTemplate(template: string, contentType: string): Promise<string | null> {
  // Loaded only when somebody has a template: most commands start without it.
  const tried = await import("../receivers/webhook/template.ts");
  try {
    tried.checkTemplate(template, contentType);
    return null;
  } catch (error) {
    return `cannot be used: ${asFlatlineError(error).message.split("\n", 1)[0] ?? ""}`;
  }
}
