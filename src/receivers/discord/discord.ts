import type { Notification } from "../../alerting/notify/notification.ts";
import { iso } from "../../contract/v1/instant.ts";
import { messageOf, type Wording } from "../../words/message.ts";
import { chatKind } from "../chat-receiver.ts";
import { fitMessage, listLines, severityMarks, type FittedMessage } from "../fit.ts";

// discord.com/developers/docs/resources/message#embed-object-embed-limits: at most 6,000 characters in all embeds.
const limits = { title: 256, description: 4_096, fields: 25, fieldName: 256, fieldValue: 1_024, total: 6_000 };

export const discordKind = chatKind("A webhook of Discord.", discordBody);

/** One embed within Discord's limits. Outside text is escaped: it has no markdown, mention or link. */
export function discordBody(notification: Notification, wording?: Wording) {
  return fitMessage(
    messageOf(notification, wording),
    (message) => renderBody(message, notification.generatedAtMs),
    isWithinLimits,
  );
}

function renderBody({ severity, title, text, links, lists, facts }: FittedMessage, atMs: number) {
  const paragraphs = [
    escapeMarkdown(text),
    links.map(({ label, url }) => `[${escapeMarkdown(label)}](${url})`).join("  "),
    ...lists.map((list) => listLines({ ...list, items: list.items.map(escapeMarkdown) }, "-", (head) => `**${head}**`)),
  ];
  return {
    // No message mentions a user.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: escapeMarkdown(`${severityMarks[severity]} ${title}`),
        description: paragraphs.filter((paragraph) => paragraph !== "").join("\n\n"),
        color: colours[severity],
        timestamp: iso(atMs),
        fields: facts.slice(0, limits.fields).map((fact) => ({
          name: escapeMarkdown(fact.label) || "–",
          value: escapeMarkdown(fact.text) || "–",
          inline: true,
        })),
      },
    ],
  };
}

/** The colours of the page's marks on white. */
const colours = { fail: 0xc21f3a, warn: 0xb57600, unknown: 0x7264c0, ok: 0x2f8a80 };

/** Escapes all that Discord reads as markdown, a mention, a timestamp, an emoji or an address. */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/[\\*_~`|<>[\]#@]/g, (character) => `\\${character}`)
    .replaceAll(/:(?=\/\/|[\w+-]+:)/g, "\\:")
    .replace(/^([-+]|\d+\.)(?= )/, "\\$1");
}

function isWithinLimits({ embeds }: ReturnType<typeof renderBody>): boolean {
  return embeds.every(({ title, description, fields }) => {
    const lengths = fields.map(({ name, value }) => name.length + value.length);
    const total = lengths.reduce((sum, length) => sum + length, title.length + description.length);
    return (
      total <= limits.total &&
      title.length <= limits.title &&
      description.length <= limits.description &&
      fields.every(({ name, value }) => name.length <= limits.fieldName && value.length <= limits.fieldValue)
    );
  });
}
