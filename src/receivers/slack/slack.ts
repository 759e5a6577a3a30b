import { z } from "zod";

import type { DeliveryOutcome } from "../../alerting/deliver/receiver.ts";
import { FlatlineError } from "../../base/errors.ts";
import { parseRetryAfter } from "../../base/http.ts";
import { parseJson } from "../../base/json.ts";
import { checkKey, optionalSecret } from "../../base/schema/secret-rules.ts";
import { checkHttpUrl, httpUrl, type KeyProblem } from "../../base/schema/values.ts";
import { Secret } from "../../base/secret.ts";
import { isActNotice, isTest } from "../../words/alert.ts";
import { actLinks, createChatReceiver, linkSecrets } from "../chat-receiver.ts";
import { deliverRequest, shown, type DeliveryContext } from "../delivery.ts";
import type { Delivering, OptionsOf, ReceiverDeps, ReceiverKind, WrittenReceiver } from "../kind.ts";
import { slackBody, slackReply } from "./body.ts";

const defaultApiUrl = "https://slack.com/api";

const shape = {
  url: optionalSecret(checkHttpUrl).describe("An incoming webhook. A secret."),
  token: optionalSecret(checkKey).describe(
    "The token (`xoxb-…`) of a bot with the scope `chat:write`, in place of `url`: " +
      "each incident is one message, which is edited, with a thread. A secret.",
  ),
  channel: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("With a token: the channel that the bot is a member of, its name or, better, its id."),
  apiUrl: httpUrl.optional().describe("With a token: the address of the API.").meta({ default: defaultApiUrl }),
};

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

export type SlackBotOptions = Pick<SlackOptions, "name" | "channel" | "apiUrl"> & { readonly token: Secret };

const answerSchema = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  channel: z.string().optional(),
  ts: z.string().optional(),
});

// docs.slack.dev/reference/methods/chat.update: after these errors a new message is sent.
const lostMessages = new Set(["message_not_found", "cant_update_message", "edit_window_closed"]);
const passingErrors = new Set([
  "ratelimited",
  "rate_limited",
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout",
  "team_added_to_org",
]);
const tooLong = new Set(["msg_too_long", "msg_blocks_too_long"]);
const advice: Readonly<Record<string, string>> = {
  invalid_auth: "give the receiver the bot token (xoxb-…) of an installed app",
  not_authed: "give the receiver the bot token (xoxb-…) of an installed app",
  not_allowed_token_type: "give the receiver the bot token (xoxb-…), not another kind of token",
  account_inactive: "install the app again and give the receiver its new token",
  token_revoked: "install the app again and give the receiver its new token",
  token_expired: "install the app again and give the receiver its new token",
  missing_scope: "give the app the scope chat:write, and install it again",
  channel_not_found: "name a channel of this workspace, by its id, and invite the bot to it",
  not_in_channel: "invite the bot to the channel",
  is_archived: "name a channel that is not archived",
  restricted_action: "ask the workspace's administrator to let the bot write in the channel",
};

/** `said`: Slack's answer; undefined: none was read. */
interface SlackAnswer {
  readonly outcome: DeliveryOutcome;
  readonly said: z.infer<typeof answerSchema> | undefined;
}

/**
 * Shows each incident in one message: each later notification edits it to the present state, and a reply in its thread
 * says what changed (CONTRACT 15). The message's place is stored before the delivery counts as accepted: an edit may be
 * repeated, and a post is made twice if its answer was lost.
 */
export function createSlackBot(options: SlackBotOptions, deps: ReceiverDeps): Delivering {
  const { name, channel } = options;
  const messages = deps.messages ?? null;
  return {
    deliver: async (notification, context) => {
      const present = (await messages?.presentOf(notification)) ?? notification;
      const acts = actLinks(present, deps.signLink, context.nowMs);
      const call = slackCaller(options, { ...deps, secrets: linkSecrets(acts) }, context);
      const post = (body: object): Promise<SlackAnswer> => call("chat.postMessage", { channel, ...body });
      const { incident, alerts } = notification;
      // No test notification is in the store.
      if (incident === null || messages === null || alerts.some(isTest))
        return (await post(slackBody(notification, { acts }))).outcome;
      const state = slackBody(present, { acts, about: "state" });
      const reply = async (to: { readonly channel: string; readonly message: string }): Promise<DeliveryOutcome> => {
        // The end is also for people who do not follow the thread.
        const isEnd = notification.status === "resolved" && !alerts.every(isActNotice);
        const channelToo = isEnd ? { reply_broadcast: true } : {};
        const said = { ...slackReply(notification), ...channelToo, unfurl_links: false, unfurl_media: false };
        return (await post({ ...said, channel: to.channel, thread_ts: to.message })).outcome;
      };
      const known = await messages.messageOf(name, incident.number);
      if (known !== null) {
        const edited = await call("chat.update", { channel: known.channel, ts: known.message, ...state });
        if (edited.outcome.kind === "accepted") return reply(known);
        if (!lostMessages.has(edited.said?.error ?? "")) return edited.outcome;
      }
      const posted = await post(state);
      if (posted.outcome.kind !== "accepted") return posted.outcome;
      const message = { channel: posted.said?.channel ?? "", message: posted.said?.ts ?? "" };
      await messages.saveMessage(name, incident.number, message);
      // The message of the state does not name acts of people.
      return alerts.some(isActNotice) ? reply(message) : posted.outcome;
    },
  };
}

function slackCaller(
  { apiUrl, token }: SlackBotOptions,
  { dispatcher, secrets: linked }: Pick<ReceiverDeps, "dispatcher"> & { readonly secrets: readonly Secret[] },
  context: DeliveryContext,
) {
  const base = (apiUrl ?? defaultApiUrl).replace(/\/+$/, "");
  const secrets = [token, ...linked];
  const headers = {
    authorization: `Bearer ${token.reveal()}`,
    "content-type": "application/json; charset=utf-8",
  };
  return async (method: string, body: object): Promise<SlackAnswer> => {
    let said: SlackAnswer["said"];
    const request = { url: new Secret(`${base}/${method}`), headers, body: JSON.stringify(body), secrets };
    const outcome = await deliverRequest(dispatcher, request, context, (response) => {
      const answer = answerSchema.safeParse(parseJson(response.body));
      if (!answer.success) {
        const error = `${method}: no answer of Slack's API: ${shown(response.body, secrets)}`;
        return { kind: "retry", error, retryAfterMs: null };
      }
      said = answer.data;
      if (said.ok) return { kind: "accepted", detail: `${method}: ok` };
      const { error = "unknown_error" } = said;
      const retryAfterMs = parseRetryAfter(response.headers["retry-after"], context.nowMs);
      return refusal(`${method}: ${shown(error, secrets)}`, error, retryAfterMs);
    });
    return { said, outcome };
  };
}

/** Returns what `ok: false` means: some errors pass, others stay until somebody changes something. */
function refusal(said: string, error: string, retryAfterMs: number | null): DeliveryOutcome {
  if (passingErrors.has(error)) return { kind: "retry", error: said, retryAfterMs };
  const what = Object.hasOwn(advice, error) ? advice[error] : undefined;
  return {
    kind: "rejected",
    error: what === undefined ? said : `${said}: ${what}`,
    ...(tooLong.has(error) ? { isTooLarge: true as const } : {}),
  };
}
