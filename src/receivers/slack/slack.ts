import { cutText } from "../../base/cut-text.ts";
import type { Notification } from "../../alerting/notify/notification.ts";
import {
  fitMessage,
  linesOf,
  partsOf,
  previewOf,
  type Fact,
  type Message,
  type MessageLink,
  type MessagePart,
} from "../wording/message.ts";
import { opinionSentence, overFacts } from "../wording/incident.ts";
import { messageOf, stateMessageOf } from "../wording/wording.ts";

// docs.slack.dev/reference/block-kit/blocks: header 150, section text 3,000, fields 10 of 2,000, 50 blocks a message.
// URL 3,000, which a text that holds it has to have room for.
const limits = { blocks: 50, header: 150, text: 3_000, fields: 10, field: 2_000, url: 3_000, elements: 10 };

type SlackText =
  | { readonly type: "plain_text"; readonly text: string; readonly emoji: false }
  | { readonly type: "mrkdwn"; readonly text: string; readonly verbatim: true };

type SlackBlock =
  | { readonly type: "header"; readonly text: SlackText }
  | { readonly type: "section"; readonly text: SlackText }
  | { readonly type: "section"; readonly fields: readonly SlackText[] }
  | { readonly type: "context"; readonly elements: readonly SlackText[] }
  | { readonly type: "divider" };

/** The body of an incoming webhook. */
export interface SlackBody {
  /** For notifications and screen readers. */
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
  readonly unfurl_links: false;
  readonly unfurl_media: false;
}

/** Block Kit within Slack's limits: two lines, links, facts, what carries it, what to do. No text of others becomes markup or a mention. */
export function slackBody(notification: Notification, acts: readonly MessageLink[] = []): SlackBody {
  return fitMessage(messageOf(notification, acts, limits.url), renderBody, isWithinLimits);
}

/** The same of an incident as it stands: what its one message says (CONTRACT 15). */
export function slackStateBody(notification: Notification, acts: readonly MessageLink[] = []): SlackBody {
  return fitMessage(stateMessageOf(notification, acts, limits.url), renderBody, isWithinLimits);
}

/** Returns the change in two lines: a reply in the thread of its incident. */
export function slackReply(notification: Notification): { readonly text: string; readonly mrkdwn: boolean } {
  const { incident, alerts, generatedAtMs } = notification;
  const [stopped, left] = incident !== null ? overFacts(incident, generatedAtMs) : [];
  const leaves = left === undefined ? "" : `; it ends by ${datedValue(left)}`;
  if (stopped !== undefined && alerts.every(({ reason }) => reason === "excess_stopped"))
    return {
      text: `Nothing unusual since ${datedValue(stopped)}${leaves}.`,
      mrkdwn: true,
    };
  if (incident !== null && alerts.length > 0 && alerts.every(({ reason }) => reason === "second_opinion"))
    return { text: `Second opinion: ${escapeText(opinionSentence(incident))}`, mrkdwn: false };
  return { text: escapeText(previewOf(messageOf(notification)).join("\n")), mrkdwn: false };
}

function renderBody(message: Message): SlackBody {
  const [heading, second] = previewOf(message);
  const { head, sections } = partsOf(message);
  const blocks: SlackBlock[] = [
    { type: "header", text: plain(cutText(heading, limits.header - 1)) },
    ...[head, ...sections].flat().flatMap(blocksOf),
  ];
  return { text: escapeText(`${heading}\n${second}`), blocks, unfurl_links: false, unfurl_media: false };
}

function blocksOf(part: MessagePart): SlackBlock[] {
  switch (part.kind) {
    case "title":
      return [{ type: "divider" }, section(part.text)];
    case "text":
    case "list":
      return [section(linesOf(part, "•"))];
    case "links":
      return linkBlocks(part.items);
    case "facts":
      return [fieldBlock(part.items)];
    default:
      return part satisfies never;
  }
}

function fieldBlock(facts: readonly Fact[]): SlackBlock {
  const fields = facts.slice(0, limits.fields).map((fact): SlackText => {
    const { name, value } = fact;
    // A name is bold if nothing in it is markup; text of others that could be markup stays plain.
    const isInert = !/[*_~`<>&@#|:\\]/.test(`${name}${value.replaceAll(/\d:\d/g, "")}`);
    return isInert
      ? { type: "mrkdwn", text: `*${name}*\n${datedValue(fact)}`, verbatim: true }
      : plain(`${name}\n${value}`);
  });
  return { type: "section", fields };
}

/** docs.slack.dev/messaging/formatting-message-text#date-formatting: the reader's clock, with our words where it is not known. */
function datedValue({ value, atMs }: Fact): string {
  if (atMs === undefined) return value;
  const end = value.indexOf("UTC") + 3;
  const seconds = Math.floor(atMs / 1_000);
  return `<!date^${seconds}^{date_short_pretty} {time}|${value.slice(0, end)}>${value.slice(end)}`;
}

/** An element of its own each: none takes the room of another. One that is too long for its element is left out. */
function linkBlocks(links: readonly MessageLink[]): SlackBlock[] {
  const elements = links
    .map(({ label, url }) => `<${escapeText(url)}|${escapeText(inertLabel(label))}>`)
    .filter((text) => text.length <= limits.text)
    .slice(0, limits.elements)
    .map((text): SlackText => ({ type: "mrkdwn", text, verbatim: true }));
  return elements.length === 0 ? [] : [{ type: "context", elements }];
}

/** A link's text is the one place where plain text is no choice: what would be markup there is left out. */
function inertLabel(label: string): string {
  return label.replaceAll(/[*_~`|@#]/g, " ");
}

function section(text: string): SlackBlock {
  return { type: "section", text: plain(text) };
}

function plain(text: string): SlackText {
  return { type: "plain_text", text: escapeText(text), emoji: false };
}

/** docs.slack.dev/messaging/formatting-message-text: these three, so that `<!channel>` and `<@U1>` are text. */
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function isWithinLimits({ blocks }: SlackBody): boolean {
  return blocks.length <= limits.blocks && blocks.every(isBlockWithinLimits);
}

function isBlockWithinLimits(block: SlackBlock): boolean {
  switch (block.type) {
    case "divider":
    case "context":
      return true;
    case "header":
      return block.text.text.length <= limits.header;
    case "section":
      return "fields" in block
        ? block.fields.every(({ text }) => text.length <= limits.field)
        : block.text.text.length <= limits.text;
    default:
      return block satisfies never;
  }
}
