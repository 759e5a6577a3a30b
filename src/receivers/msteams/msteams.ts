import type { Notification } from "../../alerting/notify/notification.ts";
import type { Severity } from "../../contract/severity.ts";
import { chatKind } from "../chat-receiver.ts";
import {
  fitMessage,
  partsOf,
  previewOf,
  type Fact,
  type Message,
  type MessageLink,
  type MessagePart,
} from "../wording/message.ts";
import { messageOf } from "../wording/wording.ts";

// learn.microsoft.com, Teams "Send requests with webhooks": a message is at most 28 KB; some of it is Teams' own envelope.
const maxBodyBytes = 24_000;
// Adaptive Cards show up to six actions of a set at once.
const maxActions = 6;

type TextRun = {
  readonly type: "TextRun";
  readonly text: string;
  readonly weight?: "Bolder";
  readonly size?: "Large";
  readonly color?: "Attention" | "Warning" | "Good" | "Accent";
};
/** Runs are plain text: Teams reads markdown and date functions in text blocks and fact sets only. */
type CardElement =
  | { readonly type: "RichTextBlock"; readonly inlines: readonly TextRun[]; readonly separator?: true }
  | {
      readonly type: "ActionSet";
      readonly actions: readonly { readonly type: "Action.OpenUrl"; readonly title: string; readonly url: string }[];
    };

/** The body that a Workflows webhook ("when a Teams webhook request is received") expects. */
export interface TeamsBody {
  readonly type: "message";
  readonly attachments: readonly {
    readonly contentType: "application/vnd.microsoft.card.adaptive";
    readonly contentUrl: null;
    readonly content: {
      readonly $schema: "http://adaptivecards.io/schemas/adaptive-card.json";
      readonly type: "AdaptiveCard";
      readonly version: "1.4";
      readonly msteams: { readonly width: "Full" };
      readonly fallbackText: string;
      readonly body: readonly CardElement[];
    };
  }[];
}

export const teamsKind = chatKind("msteams", "A webhook of a Microsoft Teams workflow.", {
  contentType: "application/json",
  bodyOf: teamsBody,
});

/** Returns an Adaptive Card within the size that Teams takes. */
export function teamsBody(notification: Notification, acts: readonly MessageLink[] = []): TeamsBody {
  return fitMessage(
    messageOf(notification, acts),
    renderBody,
    (body) => Buffer.byteLength(JSON.stringify(body)) <= maxBodyBytes,
  );
}

function renderBody(message: Message): TeamsBody {
  const [heading, second] = previewOf(message);
  const { head, sections } = partsOf(message);
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
            block([
              { type: "TextRun", text: heading, weight: "Bolder", size: "Large", color: colours[message.severity] },
            ]),
            ...[head, ...sections].flat().flatMap(elementsOf),
          ],
        },
      },
    ],
  };
}

const colours: Readonly<Record<Severity, NonNullable<TextRun["color"]>>> = {
  fail: "Attention",
  warn: "Warning",
  unknown: "Accent",
  ok: "Good",
};

function elementsOf(part: MessagePart): CardElement[] {
  switch (part.kind) {
    case "title":
      return [block([bold(part.text)], true)];
    case "text":
      return [...headingOf(part), block([run(part.text)])];
    case "list":
      return [...headingOf(part), ...part.items.map((line) => block([run(`• ${line}`)]))];
    case "links":
      return [linkSet(part.items)];
    case "facts":
      return part.items.map(factBlock);
    default:
      return part satisfies never;
  }
}

function headingOf({ heading }: { readonly heading?: string }): CardElement[] {
  return heading === undefined ? [] : [block([bold(heading)])];
}

function linkSet(links: readonly MessageLink[]): CardElement {
  const actions = links
    .slice(0, maxActions)
    .map(({ label, url }) => ({ type: "Action.OpenUrl", title: label, url }) as const);
  return { type: "ActionSet", actions };
}

function factBlock({ name, value }: Fact): CardElement {
  return block([bold(`${name}: `), run(value)]);
}

function block(inlines: readonly TextRun[], isSeparated = false): CardElement {
  return { type: "RichTextBlock", inlines, ...(isSeparated ? { separator: true } : {}) };
}

function run(text: string): TextRun {
  return { type: "TextRun", text };
}

function bold(text: string): TextRun {
  return { type: "TextRun", text, weight: "Bolder" };
}
