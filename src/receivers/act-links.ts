import type { Notification } from "../alerting/notify/notification.ts";
import { formatCount } from "../base/numbers.ts";
import { Secret } from "../base/secret.ts";
import { isActNotice } from "../words/alert.ts";
import type { MessageLink } from "../words/message.ts";

/** Makes the address by which a reader acknowledges an incident, signed for a receiver at the time of an attempt. */
export type SignLink = (incident: number, receiver: string, nowMs: number) => string;

/**
 * Returns the link that acknowledges what a message says is firing (CONTRACT 13); none in any other message. It is made for
 * each attempt and is nowhere else: every holder may use it.
 */
export function actLinks(
  { alerts, incident, receiver, status }: Notification,
  sign: SignLink | null | undefined,
  nowMs: number,
): readonly MessageLink[] {
  if (sign === null || sign === undefined || incident === null) return [];
  const count = incident.own.toAcknowledge;
  if (status !== "firing" || count === 0 || alerts.some(isActNotice)) return [];
  const label = count === 1 ? "Acknowledge" : `Acknowledge ${formatCount(count)}`;
  return [{ label, url: sign(incident.number, receiver, nowMs) }];
}

/** Returns what must not be shown of them: an answer may echo the message. */
export function linkSecrets(links: readonly MessageLink[]): Secret[] {
  return links.map(({ url }) => new Secret(new URL(url).searchParams.get("signature") ?? url));
}
