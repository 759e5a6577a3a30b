import { cutText } from "../base/outside-text.ts";
import { formatCount } from "../base/numbers.ts";
import type { Severity } from "../contract/severity.ts";
import type { Message, MessageList } from "../words/message.ts";

/** A message within a budget: what to do is the last line of the text, and a cut list ends in `+N more`. */
export interface FittedMessage extends Omit<Message, "todo" | "lists"> {
  readonly lists: readonly Omit<MessageList, "more">[];
}

/** A smaller budget says too little. */
const smallestScale = 0.02;
// A step is large enough to need few steps, and small enough to fill more than half of a limit.
const scaleStep = 0.7;
// Phones show no more of a second line.
const longestPreview = 160;

/** Renders as much of the message as `fits`; the smallest budget fits every medium (limits.test.ts). */
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

/** A scale of 1 is as much as a reader takes in. */
function scaled(message: Message, scale: number): FittedMessage {
  const length = (characters: number): number => Math.max(24, Math.floor(characters * scale));
  const cut = (text: string, characters: number): string => cutText(text, length(characters));
  /** Keeps at least one item, then adds `+N more`. */
  function cutList(items: readonly string[], omitted: number): string[] {
    const shown: string[] = [];
    let room = length(2_400);
    for (const whole of items) {
      const item = cut(whole, 300);
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
    text: [cut(message.text, 1_000), cut(message.todo, 1_000)].filter((line) => line !== "").join("\n"),
    links: message.links.map(({ label, url }) => ({ label: cut(label, 80), url })),
    facts: message.facts.map((fact) => ({ ...fact, label: cut(fact.label, 60), text: cut(fact.text, 240) })),
    lists: message.lists.map(({ items, more = 0, ...list }) => ({ ...list, items: cutList(items, more) })),
  };
}

/** Returns what a phone shows of the message: its title and its second line, which says since when. */
export function previewOf(message: FittedMessage): readonly [string, string] {
  const [title, second] = linesOf(message);
  const began = message.severity === "ok" ? undefined : message.facts.find(({ atMs }) => atMs !== undefined);
  const since = began === undefined ? "" : `${began.label} ${began.text}. `;
  return [title, cutText(`${since}${second}`, longestPreview)];
}

/** Returns the title and the text; without a text the first list. */
export function linesOf({ severity, title, text, lists }: FittedMessage): readonly [string, string] {
  return [`${severityMarks[severity]} ${title}`, text === "" ? (lists[0]?.items ?? []).join(", ") : text];
}

/** Returns a heading and one line per item. */
export function listLines(
  { heading, items }: Omit<MessageList, "more">,
  bullet: string,
  headingText = (text: string): string => text,
): string {
  const lines = items.map((item) => `${bullet} ${item}`);
  return (heading === undefined ? lines : [headingText(heading), ...lines]).join("\n");
}

/** Shape and word carry the severity, so that neither colour nor an emoji has to. */
export const severityMarks: Readonly<Record<Severity, string>> = { fail: "■", warn: "▲", unknown: "◌", ok: "○" };
