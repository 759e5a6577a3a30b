import type { Notification } from "../alerting/notify/notification.ts";
import type { Receiver } from "../alerting/deliver/receiver.ts";
import type { Secret } from "../base/secret.ts";
import { actLinks, linkSecrets } from "./act-links.ts";
import { deliverRequest } from "./delivery.ts";
import { urlShape, type ReceiverDeps, type ReceiverInput, type ReceiverKind } from "./kind.ts";
import type { Wording } from "../words/message.ts";

/** How one kind of chat is spoken to. */
export interface ChatWording {
  readonly contentType: string;
  /** The body for a notification, as it becomes JSON. */
  readonly bodyOf: (notification: Notification, wording: Wording) => object;
}

/** A chat's incoming webhook. */
export interface ChatOptions<Type extends string = string> {
  readonly type: Type;
  readonly name: string;
  readonly url: Secret;
}

/** Posts to the incoming webhooks of a kind of chat. */
export function chatKind<Type extends string>(type: Type, summary: string, wording: ChatWording) {
  return {
    summary,
    shape: urlShape,
    hasLinks: true,
    resolve: ({ name, url }: ReceiverInput<typeof urlShape>): ChatOptions<Type> => ({ type, name, url }),
    describe: ({ url }: ChatOptions) => ({ url }),
    create: (options: ChatOptions, deps: ReceiverDeps) => createChatReceiver(options, wording, deps),
  } as const satisfies ReceiverKind;
}

/** Creates a receiver that posts to an incoming webhook what the wording makes of a notification. */
export function createChatReceiver(
  { type, name, url }: ChatOptions,
  { contentType, bodyOf }: ChatWording,
  { dispatcher, signLink }: Pick<ReceiverDeps, "dispatcher" | "signLink">,
): Receiver {
  return {
    name,
    type,
    deliver: (notification, context) => {
      const headers = { "content-type": contentType, "user-agent": "flatline" };
      const acts = actLinks(notification, signLink, context.nowMs);
      const body = JSON.stringify(bodyOf(notification, { acts }));
      return deliverRequest(dispatcher, { url, headers, body, secrets: linkSecrets(acts) }, context);
    },
  };
}
