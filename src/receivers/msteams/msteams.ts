import type { Notification } from "../../alerting/notify/notification.ts";
import { messageOf, type Wording } from "../../words/message.ts";
import { chatKind } from "../chat-receiver.ts";
import { fitMessage, previewOf, type FittedMessage } from "../fit.ts";

// learn.microsoft.com, Teams "Send requests with webhooks": at most 28 KB, and Teams' own envelope is part of it.
const maxBodyBytes = 24_000;
// Adaptive Cards show up to six actions of a set at once.
const maxActions = 6;

export const teamsKind = chatKind("A webhook of a Microsoft Teams workflow.", teamsBody);

/** The Adaptive Card for a Workflows webhook ("when a Teams webhook request is received"), within Teams' limit. */
export function teamsBody(notification: Notification, wording?: Wording) {
  const isWithinSize = (body: object): boolean => Buffer.byteLength(JSON.stringify(body)) <= maxBodyBytes;
  return fitMessage(messageOf(notification, wording), renderBody, isWithinSize);
}

function renderBody(message: FittedMessage) {
  const [heading, second] = previewOf(message);
  const { severity, text, links, facts, lists } = message;
  const actions = links.slice(0, maxActions).map(({ label, url }) => ({ type: "Action.OpenUrl", title: label, url }));
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          msteams: { width: "Full" },
          fallbackText: `${heading}\n${second}`,
          body: [
            block({ ...bold(heading), size: "Large", color: colours[severity] }),
            ...(text === "" ? [] : [block(run(text))]),
            ...(actions.length === 0 ? [] : [{ type: "ActionSet", actions }]),
            ...facts.map((fact) => block(bold(`${fact.label}: `), run(fact.text))),
            ...lists.flatMap(({ heading: head, items }) => [
              ...(head === undefined ? [] : [block(bold(head))]),
              ...items.map((item) => block(run(`• ${item}`))),
            ]),
          ],
        },
      },
    ],
  };
}

const colours = { fail: "Attention", warn: "Warning", unknown: "Accent", ok: "Good" } as const;

/** Runs are plain text: Teams reads markdown and date functions in text blocks and fact sets only. */
function block(...inlines: readonly object[]) {
  return { type: "RichTextBlock", inlines };
}

function run(text: string) {
  return { type: "TextRun", text };
}

function bold(text: string) {
  return { type: "TextRun", text, weight: "Bolder" };
}
