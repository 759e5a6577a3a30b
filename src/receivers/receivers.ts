import type { Receiver } from "../alerting/deliver/receiver.ts";
import { alertmanagerKind } from "./alertmanager/alertmanager.ts";
import { discordKind } from "./discord/discord.ts";
import { emailKind } from "./email/email.ts";
import type { OptionsOf, ReceiverDeps, ReceiverKind } from "./kind.ts";
import { logKind } from "./log/log.ts";
import { teamsKind } from "./msteams/msteams.ts";
import { pagerdutyKind } from "./pagerduty/pagerduty.ts";
import { slackKind } from "./slack/slack.ts";
import { webhookKind } from "./webhook/webhook.ts";

/** A new type is a folder and a line here. */
export const receiverKinds = {
  log: logKind,
  webhook: webhookKind,
  slack: slackKind,
  discord: discordKind,
  msteams: teamsKind,
  alertmanager: alertmanagerKind,
  pagerduty: pagerdutyKind,
  email: emailKind,
} as const satisfies Readonly<Record<string, ReceiverKind>>;

export type ReceiverType = keyof typeof receiverKinds;

/** Their order is that of the documentation. */
export const receiverTypes = Object.keys(receiverKinds) as readonly ReceiverType[];

export type ReceiverOptions = {
  [Type in ReceiverType]: OptionsOf<Type, (typeof receiverKinds)[Type]["shape"]>;
}[ReceiverType];

export function receiverKind(type: ReceiverType): ReceiverKind {
  return receiverKinds[type];
}

export function createReceiver(options: ReceiverOptions, deps: ReceiverDeps): Receiver {
  const { name, type } = options;
  return { name, type, ...receiverKind(type).create(options, deps) };
}
