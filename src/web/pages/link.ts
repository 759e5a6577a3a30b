import type { Severity } from "../../contract/severity.ts";
import { formatTime, nbsp } from "../parts/figures.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { mark } from "./marks.ts";

/** The parts of a link of a message, as they came. */
export interface LinkParts {
  readonly act: string;
  readonly alertId: string;
  readonly receiver: string;
  readonly until: string;
  readonly signature: string;
}

/** A link that holds: what following it does, or did. */
export interface LinkView {
  readonly kind: "known";
  readonly act: "acknowledge" | "silence";
  readonly alertId: string;
  readonly receiver: string;
  readonly expiresAtMs: number;
  readonly outcome: "applied" | "repeated" | "late" | "no_alert" | "unchanged";
  /** What it is of, an alert or an incident; null once that has ended. */
  readonly alert: { readonly slug: string; readonly severity: Severity; readonly words: string } | null;
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
  const alertId = answer.kind === "known" ? answer.alertId : null;
  return {
    title: `${content.title} · flatline`,
    main: html`<div class="head"><h1>${content.title}</h1></div>
      <div class="signin">
        <div>${content.main} ${alertId === null ? nothing : html`<p>${openLink(alertId)}</p>`}</div>
      </div>`,
  };
}

function openLink(alertId: string): Html {
  const number = /^incident-(\d+)$/.exec(alertId)?.[1];
  return number === undefined
    ? html`<a href="/incidents">All incidents</a>`
    : html`<a href="/incidents/${number}">Open incident ${number}</a>`;
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
  const { act, alert, outcome, expiresAtMs, receiver } = view;
  if (outcome !== "applied" || alert === null) return doneContent(view);
  const isAck = act === "acknowledge";
  const valid = `For this act alone, valid until ${formatTime(expiresAtMs, nowMs)} UTC. Opening it changed nothing.`;
  return {
    title: isAck ? `Acknowledge ${alert.slug}?` : `Silence ${alert.slug} for 1${nbsp}h?`,
    main: html`<p>
        <span class="severity ${alert.severity}">${mark(alert.severity)}${alert.severity}</span>: ${alert.words}
      </p>
      ${(isAck ? acknowledgeLines : silenceLines).map((line) => paragraph(line))}
      <form method="post">
        <label class="field"
          >Your name, as others will read it<input type="text" name="name" maxlength="64" autocomplete="name"
        /></label>
        <p><button class="primary">${isAck ? "Acknowledge" : `Silence for 1${nbsp}h`}</button></p>
      </form>
      <p class="second">As ${receiver}, to which the link was sent. ${valid}</p>`,
  };
}

const acknowledgeLines = [
  "You take it, and it goes quiet: no more reminders, and nobody else is called. It opens no gate.",
  "You are told when it gets worse, and when it ends.",
];

const silenceLines = [
  "A silence stops messages, nothing else: checks run, alerts fire, the gate stays shut.",
  "What still fires when it ends is told then.",
];

function doneContent({ act, outcome }: LinkView): Content {
  switch (outcome) {
    case "applied":
      return act === "acknowledge"
        ? { title: "Acknowledged.", main: paragraph("There are no reminders until it gets worse, or ends.") }
        : { title: `Silenced for 1${nbsp}h.`, main: paragraph("Checks go on; what still fires then is told.") };
    case "repeated":
    case "late":
      return { title: "Done already.", main: paragraph("Nothing was changed again.") };
    case "unchanged":
      return { title: "Done already.", main: paragraph("It was acknowledged before. Nothing was changed.") };
    case "no_alert":
      return { title: "The alert has ended.", main: paragraph("There is nothing left to do. Nothing was changed.") };
    default:
      return outcome satisfies never;
  }
}

function paragraph(text: string): Html {
  return html`<p>${text}</p>`;
}
