import type { Dispatcher } from "undici";

import type { Notification } from "../alerting/notify/notification.ts";
import type { Receiver } from "../alerting/deliver/receiver.ts";
import { actLinks, linkSecrets, type SignLinks } from "./act-links.ts";
import { checkAddress, deliverRequest } from "./delivery.ts";
import type { MessageLink } from "./wording/message.ts";
import type { ChatOptions } from "./receiver-options.ts";

/** What a chat is reached by, and what its messages may carry. */
export interface ChatDeps {
  readonly dispatcher: Dispatcher;
  readonly signLinks?: SignLinks | null;
}

/** How one kind of chat is spoken to. */
export interface ChatWording {
  readonly contentType: string;
  /** The body for a notification, as it becomes JSON. */
  readonly bodyOf: (notification: Notification, acts: readonly MessageLink[]) => object;
}

/** Posts to a chat's incoming webhook. @throws FlatlineError invalid_config for an address that can't be */
export function createChatReceiver(
  options: ChatOptions,
  deps: ChatDeps,
  { contentType, bodyOf }: ChatWording,
): Receiver {
  const { name, type, url } = options;
  checkAddress(name, url);
  return {
    name,
    type,
    deliver: (notification, context) => {
      const headers = { "content-type": contentType, "user-agent": "flatline" };
      const acts = actLinks(notification, deps.signLinks, context.nowMs);
      const body = JSON.stringify(bodyOf(notification, acts));
      return deliverRequest(deps.dispatcher, { url, headers, body, secrets: linkSecrets(acts) }, context);
    },
  };
}
