import { cutText } from "../base/cut-text.ts";
import { formatCount } from "../base/numbers.ts";
import type { Severity } from "../contract/severity.ts";
import type { Message, MessageList } from "../words/message.ts";

/** A message within a budget: its lists end in `+N more`. */
export interface FittedMessage extends Omit<Message, "lists"> {
  readonly lists: readonly Omit<MessageList, "more">[];
}

/** What no medium's budget is worth going below. */
const smallestScale = 0.02;
// Each step shortens enough to need few steps, but not so much that half of a limit stays empty.
const scaleStep = 0.7;
// The most that phones show of a second line.
const longestPreview = 160;

/** Renders as much of the message as `fits`; with the smallest budget it fits every medium (limits.test.ts). */
export function fitMessage<Body>(
  message: Message,
  render: (fitted: FittedMessage) => Body,
  fits: (body: Body) => boolean = () => true,
): Body {
  let scale = 1;
  for (;;) {
    const body = render(scaled(message, scale));
    if (fits(body) || scale <= smallestScale) return body;
    scale = Math.max(scale * scaleStep, smallestScale);
  }
}

/** A scale of 1 is what a reader takes in at all. */
function scaled(message: Message, scale: number): FittedMessage {
  const length = (characters: number): number => Math.max(24, Math.floor(characters * scale));
  return {
    ...message,
    title: cutText(message.title, length(140)),
    text: cutText(message.text, length(1_000)),
    links: message.links.map(({ label, url }) => ({ label: cutText(label, length(80)), url })),
    facts: message.facts.map((fact) => ({
      ...fact,
      label: cutText(fact.label, length(60)),
      text: cutText(fact.text, length(240)),
    })),
    lists: message.lists.map(({ items, more = 0, ...list }) => ({
      ...list,
      items: cutList(items, {
        maxItems: Math.max(1, Math.floor(100 * scale)),
        maxItemLength: length(300),
        maxLength: length(2_400),
        omitted: more,
      }),
    })),
  };
}

/** Returns the first items that fit, each cut to its length, then `+N more` for the rest. At least one item is shown. */
function cutList(
  items: readonly string[],
  {
    maxItems,
    maxItemLength,
    maxLength,
    omitted,
  }: Record<"maxItems" | "maxItemLength" | "maxLength" | "omitted", number>,
): string[] {
  const shown: string[] = [];
  let length = 0;
  for (const item of items) {
    const cut = cutText(item, maxItemLength);
    length += cut.length;
    if (shown.length > 0 && (shown.length >= maxItems || length > maxLength)) break;
    shown.push(cut);
  }
  const missing = items.length - shown.length + omitted;
  return missing === 0 ? shown : [...shown, `+${formatCount(missing)} more`];
}

/** Returns what a phone shows of the message: its title and its second line. */
export function previewOf({ severity, title, text, lists }: FittedMessage): readonly [string, string] {
  const second = text === "" ? (lists[0]?.items ?? []).join(", ") : text;
  return [`${severityMarks[severity]} ${title}`, cutText(second, longestPreview)];
}

/** Returns a list on lines of its own, below its heading. */
export function listLines(
  { heading, items }: Omit<MessageList, "more">,
  bullet: string,
  headingText = (text: string): string => text,
): string {
  return [...(heading === undefined ? [] : [headingText(heading)]), ...items.map((item) => `${bullet} ${item}`)].join(
    "\n",
  );
}

/** Marks before a title: shape and word carry the severity, so that neither colour nor an emoji has to. */
export const severityMarks: Readonly<Record<Severity, string>> = { fail: "■", warn: "▲", unknown: "◌", ok: "○" };

/** The colours of the page's marks on white, for media that have a stripe of colour. */
export const severityColours: Readonly<Record<Severity, string>> = {
  fail: "#c21f3a",
  warn: "#b57600",
  unknown: "#7264c0",
  ok: "#2f8a80",
};
