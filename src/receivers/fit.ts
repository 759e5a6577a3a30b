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
  const cut = (text: string, characters: number): string => cutText(text, length(characters));
  /** The first items, at least one, then `+N more`. */
  function cutList(items: readonly string[], omitted: number): string[] {
    const shown: string[] = [];
    let room = length(2_400);
    for (const item of items.map((one) => cut(one, 300))) {
      room -= item.length;
      if (shown.length > 0 && (room < 0 || shown.length >= Math.floor(100 * scale))) break;
      shown.push(item);
    }
    const missing = items.length - shown.length + omitted;
    return missing === 0 ? shown : [...shown, `+${formatCount(missing)} more`];
  }
  return {
    ...message,
    title: cut(message.title, 140),
    text: cut(message.text, 1_000),
    links: message.links.map(({ label, url }) => ({ label: cut(label, 80), url })),
    facts: message.facts.map((fact) => ({ ...fact, label: cut(fact.label, 60), text: cut(fact.text, 240) })),
    lists: message.lists.map(({ items, more = 0, ...list }) => ({ ...list, items: cutList(items, more) })),
  };
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
  const lines = items.map((item) => `${bullet} ${item}`);
  return (heading === undefined ? lines : [headingText(heading), ...lines]).join("\n");
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
