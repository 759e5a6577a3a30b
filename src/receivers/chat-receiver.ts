import type { Notification } from "../alerting/notify/notification.ts";
import { formatCount } from "../base/numbers.ts";
import { Secret } from "../base/secret.ts";
import { isActNotice } from "../words/alert.ts";
import type { MessageLink, Wording } from "../words/message.ts";
import { deliverRequest } from "./delivery.ts";
import { urlShape, type Delivering, type OptionsOf, type ReceiverDeps, type ReceiverKind } from "./kind.ts";

type BodyOf = (notification: Notification, wording: Wording) => object;
type ChatOptions = OptionsOf<string, typeof urlShape>;

/** A chat with incoming webhooks: its summary and its body. */
export function chatKind(summary: string, bodyOf: BodyOf) {
  return {
    summary,
    shape: urlShape,
    hasLinks: true,
    create: (options: ChatOptions, deps: ReceiverDeps) => createChatReceiver(options, bodyOf, deps),
  } as const satisfies ReceiverKind;
}

export function createChatReceiver(
  { url }: Pick<ChatOptions, "url">,
  bodyOf: BodyOf,
  { dispatcher, signLink }: Pick<ReceiverDeps, "dispatcher" | "signLink">,
): Delivering {
  return {
    deliver: (notification, context) => {
      const acts = actLinks(notification, signLink, context.nowMs);
      const body = JSON.stringify(bodyOf(notification, { acts }));
      return deliverRequest(dispatcher, { url, body, secrets: linkSecrets(acts) }, context);
    },
  };
}

/** Returns the link that acknowledges what fires (CONTRACT 13), new for each attempt: every holder may use it. */
export function actLinks(
  { alerts, incident, receiver, status }: Notification,
  sign: ReceiverDeps["signLink"],
  nowMs: number,
): readonly MessageLink[] {
  if (sign === null || sign === undefined || incident === null) return [];
  const count = incident.own.toAcknowledge;
  if (status !== "firing" || count === 0 || alerts.some(isActNotice)) return [];
  const label = count === 1 ? "Acknowledge" : `Acknowledge ${formatCount(count)}`;
  return [{ label, url: sign(incident.number, receiver, nowMs) }];
}

/** An answer may echo the message, and with it these secrets. */
export function linkSecrets(links: readonly MessageLink[]): Secret[] {
  return links.map(({ url }) => new Secret(new URL(url).searchParams.get("signature") ?? url));
}
