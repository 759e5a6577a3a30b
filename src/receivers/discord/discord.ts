import type { Notification } from "../../alerting/notify/notification.ts";
import { chatKind } from "../chat-receiver.ts";
import {
  fitMessage,
  sampleHeading,
  severityColours,
  severityMarks,
  type Message,
  type MessageLink,
  type MessageSection,
} from "../wording/message.ts";
import { isoTime } from "../payload.ts";
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
  const links = message.links.map(({ label, url }) => `[${escapeMarkdown(label)}](${url})`).join("  ");
  const paragraphs = [
    message.intro === null ? "" : escapeMarkdown(message.intro),
    links,
    message.lines.map((line) => `- ${escapeMarkdown(line)}`).join("\n"),
    sampleText(message.sample),
    ...message.sections.map((section) => sectionText(section, isAlone)),
  ];
  const facts = isAlone ? (message.sections[0]?.facts ?? []) : message.facts;
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: escapeMarkdown(`${severityMarks[message.severity]} ${message.title}`),
        description: paragraphs.filter((paragraph) => paragraph !== "").join("\n\n"),
        color: Number.parseInt(severityColours[message.severity].slice(1), 16),
        timestamp: isoTime(atMs),
        fields: facts.slice(0, limits.fields).map(({ name, value }) => ({
          name: escapeMarkdown(name) || "–",
          value: escapeMarkdown(value) || "–",
          inline: true,
        })),
      },
    ],
  };
}

function sectionText(section: MessageSection, isAlone: boolean): string {
  const facts = section.facts.map(({ name, value }) => `${escapeMarkdown(name)}: ${escapeMarkdown(value)}`).join(", ");
  const carriers = section.carriers.map((carrier) => `- ${escapeMarkdown(carrier)}`).join("\n");
  const links = section.links.map(({ label, url }) => `[${escapeMarkdown(label)}](${url})`).join("  ");
  return [
    isAlone ? "" : `**${escapeMarkdown(section.title)}**`,
    escapeMarkdown(section.sentence),
    links,
    section.details === null ? "" : escapeMarkdown(section.details),
    isAlone ? "" : facts,
    carriers === "" ? "" : `**What carries it**\n${carriers}`,
    sampleText(section.sample),
    section.action === null ? "" : `**What to do**\n${escapeMarkdown(section.action)}`,
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function sampleText(sample: readonly string[]): string {
  if (sample.length === 0) return "";
  return `**${sampleHeading}**\n${sample.map((line) => `- ${escapeMarkdown(line)}`).join("\n")}`;
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
