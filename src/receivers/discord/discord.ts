import type { Notification } from "../../alerting/notify/notification.ts";
import { chatKind } from "../chat-receiver.ts";
import {
  fitMessage,
  linesOf,
  partsOf,
  severityColours,
  severityMarks,
  type Message,
  type MessageLink,
  type MessagePart,
} from "../wording/message.ts";
import { iso } from "../../contract/v1/instant.ts";
import { messageOf } from "../wording/wording.ts";

// discord.com/developers/docs/resources/message#embed-object-embed-limits: all characters of all embeds together 6,000.
const limits = { title: 256, description: 4_096, fields: 25, fieldName: 256, fieldValue: 1_024, total: 6_000 };

/** The body of a webhook's execution. */
export interface DiscordBody {
  /** Nothing in a message mentions a user. */
  readonly allowed_mentions: { readonly parse: readonly [] };
  readonly embeds: readonly {
    readonly title: string;
    readonly description: string;
    readonly color: number;
    readonly timestamp: string;
    readonly fields: readonly { readonly name: string; readonly value: string; readonly inline: boolean }[];
  }[];
}

export const discordKind = chatKind("discord", "A webhook of Discord.", {
  contentType: "application/json",
  bodyOf: discordBody,
});

/** One embed within Discord's limits. Text of others is escaped: no markdown, no mention, no link of theirs. */
export function discordBody(notification: Notification, acts: readonly MessageLink[] = []): DiscordBody {
  return fitMessage(
    messageOf(notification, acts),
    (message) => renderBody(message, notification.generatedAtMs),
    isWithinLimits,
  );
}

function renderBody(message: Message, atMs: number): DiscordBody {
  const isAlone = message.sections.length === 1;
  const { head, sections } = partsOf(message);
  // The fields have the facts of the message, or of its only section.
  const withoutFacts = (parts: readonly MessagePart[]) => parts.filter(({ kind }) => kind !== "facts");
  const paragraphs = [
    ...withoutFacts(head).map(partText),
    ...sections.map((parts) => (isAlone ? withoutFacts(parts) : parts).map(partText).join("\n")),
  ];
  const facts = isAlone ? (message.sections[0]?.facts ?? []) : message.facts;
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: escapeMarkdown(`${severityMarks[message.severity]} ${message.title}`),
        description: paragraphs.join("\n\n"),
        color: Number.parseInt(severityColours[message.severity].slice(1), 16),
        timestamp: iso(atMs),
        fields: facts.slice(0, limits.fields).map(({ name, value }) => ({
          name: escapeMarkdown(name) || "–",
          value: escapeMarkdown(value) || "–",
          inline: true,
        })),
      },
    ],
  };
}

function partText(part: MessagePart): string {
  switch (part.kind) {
    case "title":
      return bold(part.text);
    case "text":
      return linesOf({ ...part, text: escapeMarkdown(part.text) }, "-", bold);
    case "list":
      return linesOf({ ...part, items: part.items.map(escapeMarkdown) }, "-", bold);
    case "links":
      return part.items.map(({ label, url }) => `[${escapeMarkdown(label)}](${url})`).join("  ");
    case "facts":
      return part.items.map(({ name, value }) => `${escapeMarkdown(name)}: ${escapeMarkdown(value)}`).join(", ");
    default:
      return part satisfies never;
  }
}

function bold(text: string): string {
  return `**${escapeMarkdown(text)}**`;
}

/** A backslash before everything that Discord reads as markdown, a mention, a timestamp, an emoji or an address. */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/[\\*_~`|<>[\]#@]/g, (character) => `\\${character}`)
    .replaceAll(/:(?=\/\/|[\w+-]+:)/g, "\\:")
    .replace(/^([-+]|\d+\.)(?= )/, "\\$1");
}

function isWithinLimits({ embeds }: DiscordBody): boolean {
  let total = 0;
  for (const { title, description, fields } of embeds) {
    if (title.length > limits.title || description.length > limits.description) return false;
    if (fields.some(({ name, value }) => name.length > limits.fieldName || value.length > limits.fieldValue))
      return false;
    total += title.length + description.length;
    for (const { name, value } of fields) total += name.length + value.length;
  }
  return total <= limits.total;
}
