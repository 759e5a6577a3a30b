import type { Dispatcher } from "undici";

import type { Logger } from "../base/logger.ts";
import type { Receiver } from "../alerting/deliver/receiver.ts";
import type { SignLinks } from "./act-links.ts";
import { createAlertmanagerReceiver } from "./alertmanager/alertmanager.ts";
import { createDiscordReceiver } from "./discord/discord.ts";
import { createEmailReceiver } from "./email/email.ts";
import { createLogReceiver } from "./log/log.ts";
import { createTeamsReceiver } from "./msteams/msteams.ts";
import { createPagerdutyReceiver } from "./pagerduty/pagerduty.ts";
import type { ReceiverOptions } from "./receiver-options.ts";
import { createSlackReceiver } from "./slack/slack.ts";
import { createWebhookReceiver } from "./webhook/webhook.ts";

/** What receivers share. */
export interface ReceiverDeps {
  /** Honours the proxies of the environment (base/http.ts); its owner closes it. */
  readonly dispatcher: Dispatcher;
  /** Signs the links of chats and mail [null: they have none]. */
  readonly signLinks?: SignLinks | null;
  /** Where a receiver of type log writes. */
  readonly logger: Logger;
}

/** Creates the receiver of a configuration's entry. @throws FlatlineError invalid_config for an address or secret that can't be */
export function createReceiver(options: ReceiverOptions, deps: ReceiverDeps): Receiver {
  switch (options.type) {
    case "webhook":
      return createWebhookReceiver(options, deps);
    case "slack":
      return createSlackReceiver(options, deps);
    case "discord":
      return createDiscordReceiver(options, deps);
    case "msteams":
      return createTeamsReceiver(options, deps);
    case "alertmanager":
      return createAlertmanagerReceiver(options, deps);
    case "pagerduty":
      return createPagerdutyReceiver(options, deps);
    case "email":
      return createEmailReceiver(options, deps);
    case "log":
      return createLogReceiver(options, deps);
    default:
      return options satisfies never;
  }
}
