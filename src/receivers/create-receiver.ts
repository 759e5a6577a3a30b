import type { Dispatcher } from "undici";

import type { Logger } from "../base/logger.ts";
import type { Receiver } from "../alerting/deliver/receiver.ts";
import { createAlertmanagerReceiver } from "./alertmanager-receiver.ts";
import { createDiscordReceiver } from "./discord-receiver.ts";
import { createEmailReceiver } from "./email-receiver.ts";
import { createLogReceiver } from "./log-receiver.ts";
import { createTeamsReceiver } from "./msteams-receiver.ts";
import { createPagerdutyReceiver } from "./pagerduty-receiver.ts";
import type { ReceiverOptions } from "./receiver-options.ts";
import { createSlackReceiver } from "./slack-receiver.ts";
import { createWebhookReceiver } from "./webhook-receiver.ts";

/** What receivers share. */
export interface ReceiverDeps {
  /** Honours the proxies of the environment (base/http.ts); its owner closes it. */
  readonly dispatcher: Dispatcher;
  /** Where a receiver of type log writes. */
  readonly logger: Logger;
}

/** The receiver of a configuration's entry. @throws FlatlineError invalid_config for an address or secret that can't be */
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
      return createEmailReceiver(options);
    case "log":
      return createLogReceiver(options, deps);
    default:
      return options satisfies never;
  }
}
