import type { Config } from "../config/config.ts";
import { receiverKind } from "../receivers/receivers.ts";

/** Returns notes on what is valid and probably not wanted: a sentence each. */
export function configNotes({ alerting, receivers, server }: Config): string[] {
  const names = receivers.filter(({ type }) => receiverKind(type).hasLinks).map(({ name }) => name);
  if (alerting.externalUrl !== null) return [];
  const unused = "server.linkSecret signs no links while alerting.externalUrl is not set.";
  if (names.length === 0) return server.linkSecret === null ? [] : [unused];
  return [
    `alerting.externalUrl is not set: messages to ${names.join(", ")} have no link to the alert. Set it to the address by which people reach flatline.`,
  ];
}
