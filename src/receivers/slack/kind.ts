import { z } from "zod";

import { checkKey, optionalSecret } from "../../base/schema/secret-rules.ts";
import { checkHttpUrl, httpUrl, type KeyProblem } from "../../base/schema/values.ts";
import { FlatlineError } from "../../base/errors.ts";
import { createChatReceiver } from "../chat-receiver.ts";
import type { Delivering, OptionsOf, ReceiverDeps, ReceiverKind, WrittenReceiver } from "../kind.ts";
import { createSlackBot, defaultApiUrl } from "./bot.ts";
import { slackBody } from "./slack.ts";

const shape = {
  url: optionalSecret(checkHttpUrl).describe("An incoming webhook. A secret."),
  token: optionalSecret(checkKey).describe(
    "The token (`xoxb-…`) of a bot with the scope `chat:write`, in place of `url`: each incident is one message, which is edited, with a thread. A secret.",
  ),
  channel: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("With a token: the channel that the bot is a member of, its name or, better, its id."),
  apiUrl: httpUrl().optional().describe("With a token: the address of the API.").meta({ default: defaultApiUrl }),
};

/** An incoming webhook, or a bot. */
export type SlackOptions = OptionsOf<"slack", typeof shape>;

export const slackKind = {
  summary: "An incoming webhook of Slack, or a bot.",
  shape,
  hasLinks: true,
  rules,
  hasThreads: ({ token }: SlackOptions) => token !== null,
  create({ url, token, ...options }: SlackOptions, deps: ReceiverDeps): Delivering {
    if (token !== null) return createSlackBot({ ...options, token }, deps);
    if (url === null) throw new FlatlineError("internal", "a Slack receiver without url and token was accepted");
    return createChatReceiver({ url }, slackBody, deps);
  },
} as const satisfies ReceiverKind;

function rules(written: WrittenReceiver): readonly KeyProblem[] {
  const has = (key: string): boolean => written[key] !== undefined;
  const isBot = has("token");
  const isWebhook = has("url");
  const problems: KeyProblem[] = [];
  if (!isBot && !isWebhook)
    problems.push({ key: "url", message: "url (an incoming webhook) or token and channel (a bot) are required" });
  if (isBot && isWebhook)
    problems.push({ key: "url", message: "does not go with a token: a webhook or a bot", part: "key" });
  if (isBot && !has("channel")) problems.push({ key: "channel", message: "is required with a token" });
  for (const key of ["channel", "apiUrl"])
    if (!isBot && has(key)) problems.push({ key, message: "goes with a token only", part: "key" });
  return problems;
}
