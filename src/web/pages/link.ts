import type { Severity } from "../../contract/severity.ts";
import { timeText } from "../../words/numbers.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { mark } from "./marks.ts";

/** The parts of a link of a message, as they came. */
export interface LinkParts {
  readonly incident: string;
  readonly receiver: string;
  readonly until: string;
  readonly signature: string;
}

/** A link that holds: what it acknowledges, or did. */
export interface LinkView {
  readonly kind: "known";
  readonly incident: number;
  readonly receiver: string;
  readonly expiresAtMs: number;
  readonly outcome: "applied" | "repeated" | "late" | "no_alert" | "unchanged";
  /** null: there is nothing left of it to acknowledge. */
  readonly subject: { readonly name: string; readonly severity: Severity; readonly words: string } | null;
}

export type LinkAnswer = LinkView | { readonly kind: "refused"; readonly reason: "altered" | "expired" };

export interface Links {
  /** What the link would do; changes nothing. */
  look(link: LinkParts): Promise<LinkAnswer>;
  /** Does it, once; `name` is what who follows it says to be called, null: nothing. */
  follow(link: LinkParts, name: string | null): Promise<LinkAnswer>;
}

/** A page that anybody may see who has the link. */
export interface LinkPage {
  readonly title: string;
  readonly main: Html;
}

/** Renders the page of a link of a message: what it would do, or did. It has nothing of the link itself. */
export function renderLinkPage(answer: LinkAnswer, wasFollowed: boolean, nowMs: number): LinkPage {
  const content =
    answer.kind === "refused"
      ? refusedContent(answer.reason)
      : wasFollowed
        ? doneContent(answer)
        : askContent(answer, nowMs);
  const link =
    answer.kind === "known"
      ? html`<p><a href="/incidents/${answer.incident}">Open incident ${answer.incident}</a></p>`
      : nothing;
  return {
    title: `${content.title} · flatline`,
    main: html`<div class="head"><h1>${content.title}</h1></div>
      <div class="form">${content.main} ${link}</div>`,
  };
}

interface Content {
  readonly title: string;
  readonly main: Html;
}

function refusedContent(reason: "altered" | "expired"): Content {
  return reason === "expired"
    ? { title: "This link has expired.", main: paragraph("Nothing was changed. Open the incident on its page.") }
    : { title: "This link was altered or is for something else.", main: paragraph("Nothing was changed.") };
}

function askContent(view: LinkView, nowMs: number): Content {
  const { subject, outcome, expiresAtMs, receiver } = view;
  if (outcome !== "applied" || subject === null) return doneContent(view);
  const valid = `For this act alone, valid until ${timeText(expiresAtMs, nowMs)} UTC. Opening it changed nothing.`;
  return {
    title: `Acknowledge ${subject.name}?`,
    main: html`<p>
        <span class="severity ${subject.severity}">${mark(subject.severity)}${subject.severity}</span>: ${subject.words}
      </p>
      ${acknowledgeLines.map((line) => paragraph(line))}
      <form method="post">
        <label class="field"
          >Your name, as others will read it<input type="text" name="name" maxlength="128" autocomplete="name"
        /></label>
        <p><button class="primary">Acknowledge</button></p>
      </form>
      <p class="second">As ${receiver}, to which the link was sent. ${valid}</p>`,
  };
}

const acknowledgeLines = [
  "You acknowledge it: no more reminders, and nobody else is called. What is on hold stays on hold.",
  "You are told when it gets worse, and when it ends.",
];

function doneContent({ outcome }: LinkView): Content {
  switch (outcome) {
    case "applied":
      return { title: "Acknowledged.", main: paragraph("There are no reminders until it gets worse, or ends.") };
    case "repeated":
    case "late":
      return { title: "Done already.", main: paragraph("Nothing was changed again.") };
    case "unchanged":
      return { title: "Done already.", main: paragraph("It was acknowledged before. Nothing was changed.") };
    case "no_alert":
      return { title: "The incident has ended.", main: paragraph("There is nothing left to do. Nothing was changed.") };
    default:
      return outcome satisfies never;
  }
}

function paragraph(text: string): Html {
  return html`<p>${text}</p>`;
}
