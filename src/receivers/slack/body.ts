import { cutText } from "../../base/outside-text.ts";
import type { Notification } from "../../alerting/notify/notification.ts";
import { opinionWords } from "../../contract/second-opinion.ts";
import { overFacts, type Fact } from "../../words/facts.ts";
import { messageOf, type Wording } from "../../words/message.ts";
import { fitMessage, linesOf, listLines, previewOf, type FittedMessage } from "../fit.ts";

// docs.slack.dev/reference/block-kit/blocks: header 150, section text 3,000, fields 10 of 2,000, 50 blocks a message.
// A URL has up to 3,000, and must fit into its text.
const limits = { blocks: 50, header: 150, text: 3_000, fields: 10, field: 2_000, url: 3_000, elements: 10 };

/** Block Kit within Slack's limits. Outside text becomes no markup and no mention. */
export function slackBody(notification: Notification, wording: Omit<Wording, "longestLink"> = {}) {
  return fitMessage(messageOf(notification, { ...wording, longestLink: limits.url }), renderBody, isWithinLimits);
}

/** Returns the change in a few lines: a reply in the incident's thread. */
export function slackReply(notification: Notification): { readonly text: string; readonly mrkdwn: boolean } {
  const { incident, alerts, generatedAtMs } = notification;
  const isAll = (given: string): boolean => alerts.length > 0 && alerts.every(({ reason }) => reason === given);
  const over = incident !== null && isAll("excess_stopped") ? overFacts(incident, generatedAtMs) : [];
  if (over.length > 0)
    return { text: `${over.map((fact) => `${fact.label} ${datedText(fact)}`).join(". ")}.`, mrkdwn: true };
  const opinion = isAll("second_opinion") ? incident?.secondOpinion : null;
  if (opinion) return { text: `Second opinion: ${opinionWords(opinion)}.`, mrkdwn: false };
  const lines = fitMessage(messageOf(notification, { about: "change" }), linesOf);
  return { text: escapeText(lines.filter((line) => line !== "").join("\n")), mrkdwn: false };
}

function renderBody(message: FittedMessage) {
  const [heading, second] = previewOf(message);
  const { text, links, facts, lists } = message;
  const blocks = [
    { type: "header", text: plain(cutText(heading, limits.header - 1)) } as const,
    ...(text === "" ? [] : [section(text)]),
    ...linkBlocks(links),
    ...(facts.length === 0 ? [] : [fieldBlock(facts)]),
    ...lists.map((list) => section(listLines(list, "•"))),
  ];
  return { text: escapeText(`${heading}\n${second}`), blocks, unfurl_links: false, unfurl_media: false };
}

function fieldBlock(facts: readonly Fact[]) {
  const fields = facts.slice(0, limits.fields).map((fact) => {
    const { label, text } = fact;
    // Only text without markup becomes mrkdwn, which makes the name bold; other text stays plain.
    const isInert = !/[*_~`<>&@#|:\\]/.test(`${label}${text.replaceAll(/\d:\d/g, "")}`);
    return isInert ? marked(`*${label}*\n${datedText(fact)}`) : plain(`${label}\n${text}`);
  });
  return { type: "section", fields } as const;
}

/** docs.slack.dev/messaging/formatting-message-text#date-formatting: the reader's clock; our text is the fallback. */
function datedText({ text, atMs }: Fact): string {
  if (atMs === undefined) return text;
  const end = text.indexOf("UTC") + 3;
  const seconds = Math.floor(atMs / 1_000);
  return `<!date^${seconds}^{date_short_pretty} {time}|${text.slice(0, end)}>${text.slice(end)}`;
}

/** One element per link, so that none takes the room of another; a link that is too long is left out. */
function linkBlocks(links: FittedMessage["links"]) {
  // A label cannot be plain text: markup characters are removed.
  const elements = links
    .map(({ label, url }) => `<${escapeText(url)}|${escapeText(label.replaceAll(/[*_~`|@#]/g, " "))}>`)
    .filter((text) => text.length <= limits.text)
    .slice(0, limits.elements)
    .map(marked);
  return elements.length === 0 ? [] : [{ type: "context", elements } as const];
}

function section(text: string) {
  return { type: "section", text: plain(text) } as const;
}

function plain(text: string) {
  return { type: "plain_text", text: escapeText(text), emoji: false };
}

/** `text` is markup. */
function marked(text: string) {
  return { type: "mrkdwn", text, verbatim: true };
}

/** docs.slack.dev/messaging/formatting-message-text: escapes these three, so that `<!channel>` and `<@U1>` are text. */
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function isWithinLimits({ blocks }: ReturnType<typeof renderBody>): boolean {
  return (
    blocks.length <= limits.blocks &&
    blocks.every((block) => {
      if (block.type === "header") return block.text.text.length <= limits.header;
      if ("fields" in block) return block.fields.every(({ text }) => text.length <= limits.field);
      return block.type === "context" || block.text.text.length <= limits.text;
    })
  );
}
