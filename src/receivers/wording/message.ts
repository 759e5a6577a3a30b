import { cutText } from "../../base/cut-text.ts";
import type { Severity } from "../../contract/severity.ts";
import { cutList } from "./text.ts";

/** One fact: `Count`, `5,119`. */
export interface Fact {
  readonly name: string;
  readonly value: string;
  /** The instant with which `value` begins, for a medium that shows times by its reader's clock; absent: it is none. */
  readonly atMs?: number;
}

export interface MessageLink {
  readonly label: string;
  /** http or https. */
  readonly url: string;
}

/** The section of one alert: two lines for a phone, links, then facts, carriers, and the action. */
export interface MessageSection {
  readonly title: string;
  /** The second line: what the title has no room for. */
  readonly sentence: string;
  /** The incident's page first. */
  readonly links: readonly MessageLink[];
  /** More about it; null: there is none. */
  readonly details: string | null;
  readonly facts: readonly Fact[];
  readonly carriers: readonly string[];
  /** How many more there are than `carriers` has. */
  readonly carriersOmitted: number;
  /** Some of the dead assets, their addresses broken. */
  readonly sample: readonly string[];
  readonly action: string | null;
}

/**
 * A notification in words, before a receiver gives it its own form. All of it is plain text on single lines without
 * markup: a renderer escapes what its medium would read as such.
 */
export interface Message {
  /** Decides the colour and the mark; ok when all is resolved. */
  readonly severity: Severity;
  readonly title: string;
  /** The second line of a message without sections. */
  readonly intro: string | null;
  readonly facts: readonly Fact[];
  /** Few alerts: each in full. */
  readonly sections: readonly MessageSection[];
  /** Many alerts, or those of a fleet verdict: a line each, the worst first. */
  readonly lines: readonly string[];
  /** Dead assets that a fleet verdict names, as in a section. */
  readonly sample: readonly string[];
  readonly links: readonly MessageLink[];
}

// As many assets as a configuration may ask for; most media are full far below that.
const mostSampled = 100;

/** What no medium's budget is worth going below. */
const smallestScale = 0.02;
// Each step shortens enough to need few steps, but not so much that half of a limit stays empty.
const scaleStep = 0.7;

/**
 * Renders as much of the message as fits: `fits` returns whether all limits of the medium are kept. Texts are cut and lists end
 * in `+N more`; with the smallest budget the form fits every medium that is supported (each renderer's tests show it).
 */
export function fitMessage<Body>(
  message: Message,
  render: (trimmed: Message) => Body,
  fits: (body: Body) => boolean,
): Body {
  let scale = 1;
  for (;;) {
    const body = render(trimMessage(message, scale));
    if (fits(body) || scale <= smallestScale) return body;
    scale = Math.max(scale * scaleStep, smallestScale);
  }
}

/** Returns the message within a budget of characters; a scale of 1 is what a reader takes in at all. */
export function trimMessage(message: Message, scale: number): Message {
  const length = (characters: number): number => Math.max(24, Math.floor(characters * scale));
  const trimFacts = (facts: readonly Fact[]): Fact[] =>
    facts.map((fact) => ({ ...fact, name: cutText(fact.name, length(60)), value: cutText(fact.value, length(240)) }));
  // The sample is shortened first: one command shows the whole list.
  const trimSample = (sample: readonly string[]): string[] =>
    sample.slice(0, Math.floor(mostSampled * scale)).map((line) => cutText(line, length(160)));
  const trimLinks = (links: readonly MessageLink[]): MessageLink[] =>
    links.map(({ label, url }) => ({ label: cutText(label, length(80)), url }));
  return {
    severity: message.severity,
    title: cutText(message.title, length(140)),
    intro: message.intro === null ? null : cutText(message.intro, length(1000)),
    facts: trimFacts(message.facts),
    sections: message.sections.map((section) => ({
      title: cutText(section.title, length(140)),
      sentence: cutText(section.sentence, length(400)),
      details: section.details === null ? null : cutText(section.details, length(900)),
      facts: trimFacts(section.facts),
      carriers: cutList(section.carriers, {
        maxItems: Math.max(1, Math.floor(8 * scale)),
        maxItemLength: length(300),
        maxLength: length(1800),
        omitted: section.carriersOmitted,
      }),
      carriersOmitted: 0,
      sample: trimSample(section.sample),
      action: section.action === null ? null : cutText(section.action, length(600)),
      links: trimLinks(section.links),
    })),
    lines: cutList(message.lines, {
      maxItems: Math.max(1, Math.floor(60 * scale)),
      maxItemLength: length(200),
      maxLength: length(2400),
    }),
    sample: trimSample(message.sample),
    links: trimLinks(message.links),
  };
}

/** What a message consists of, in the order in which it is read; no part is empty. */
export type MessagePart =
  | { readonly kind: "title"; readonly text: string }
  | { readonly kind: "text"; readonly heading?: string; readonly text: string }
  | { readonly kind: "list"; readonly heading?: string; readonly items: readonly string[] }
  | { readonly kind: "links"; readonly items: readonly MessageLink[] }
  | { readonly kind: "facts"; readonly items: readonly Fact[] };

/** Returns the parts of a message below its title, and those of each section, which has a title when it is not the only one. */
export function partsOf({ intro, links, facts, lines, sample, sections }: Message) {
  const isAlone = sections.length === 1;
  return {
    head: notEmpty([
      { kind: "text", text: intro ?? "" },
      { kind: "links", items: links },
      { kind: "facts", items: facts },
      { kind: "list", items: lines },
      { kind: "list", heading: sampleHeading, items: sample },
    ]),
    sections: sections.map((section) =>
      notEmpty([
        { kind: "title", text: isAlone ? "" : section.title },
        { kind: "text", text: section.sentence },
        { kind: "links", items: section.links },
        { kind: "text", text: section.details ?? "" },
        { kind: "facts", items: section.facts },
        { kind: "list", heading: "What carries it", items: section.carriers },
        { kind: "list", heading: sampleHeading, items: section.sample },
        { kind: "text", heading: "What to do", text: section.action ?? "" },
      ]),
    ),
  };
}

function notEmpty(parts: readonly MessagePart[]): readonly MessagePart[] {
  return parts.filter((part) => ("text" in part ? part.text : part.items).length > 0);
}

/** Returns a text or list on lines of its own, below its heading. */
export function linesOf(
  part: Extract<MessagePart, { readonly kind: "text" | "list" }>,
  bullet: string,
  heading: (text: string) => string = (text) => text,
): string {
  const lines = part.kind === "text" ? [part.text] : part.items.map((item) => `${bullet} ${item}`);
  return [...(part.heading === undefined ? [] : [heading(part.heading)]), ...lines].join("\n");
}

/** Returns what a phone shows of the message: its title and its second line. */
export function previewOf({ severity, title, intro, sections, lines }: Message): readonly [string, string] {
  const several = [...sections.map((section) => section.title), ...lines].join(", ");
  const second = sections.length === 1 ? (sections[0]?.sentence ?? "") : (intro ?? several);
  return [`${severityMarks[severity]} ${title}`, cutText(second, longestPreview)];
}

// The most that phones show of a second line.
const longestPreview = 160;

/** Above the list of dead assets, wherever it is shown. */
export const sampleHeading = "Newest dead assets";

/** Marks before a title: shape and word carry the severity, so that neither colour nor an emoji has to. */
export const severityMarks: Readonly<Record<Severity, string>> = { fail: "■", warn: "▲", unknown: "◌", ok: "○" };

/** The colours of the page's marks on white, for media that have a stripe of colour. */
export const severityColours: Readonly<Record<Severity, string>> = {
  fail: "#c21f3a",
  warn: "#b57600",
  unknown: "#7264c0",
  ok: "#2f8a80",
};
