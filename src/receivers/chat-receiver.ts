import type { Dispatcher } from "undici";

import type { Notification } from "../alerting/notify/notification.ts";
import type { Receiver } from "../alerting/deliver/receiver.ts";
import { checkAddress, deliverRequest } from "./delivery.ts";
import type { ChatOptions } from "./receiver-options.ts";

/** How one kind of chat is spoken to. */
export interface ChatWording {
  readonly contentType: string;
  /** The body for a notification, as it becomes JSON. */
  readonly bodyOf: (notification: Notification) => object;
}

/** Posts to a chat's incoming webhook. @throws FlatlineError invalid_config for an address that can't be */
export function createChatReceiver(
  options: ChatOptions,
  deps: { readonly dispatcher: Dispatcher },
  { contentType, bodyOf }: ChatWording,
): Receiver {
  const { name, type, url } = options;
  checkAddress(name, url);
  return {
    name,
    type,
    deliver: (notification, context) => {
      const headers = { "content-type": contentType, "user-agent": "flatline" };
      const body = JSON.stringify(bodyOf(notification));
      return deliverRequest(deps.dispatcher, { url, headers, body }, context);
    },
  };
}
