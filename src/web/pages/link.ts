import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { ByteBudget } from "../../base/request-body.ts";
import type { Clock } from "../../base/time.ts";
import type { Severity } from "../../contract/severity.ts";
import { timeText } from "../../words/numbers.ts";
import { sendHtml } from "../answer.ts";
import { personNameOf, receiveForm } from "../body.ts";
import { html, type Html } from "../parts/html.ts";
import { addRoute } from "../route.ts";
import { mark } from "./marks.ts";
import { renderSheet } from "./sheet.ts";

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

/** `/act/acknowledge/…`: the links of messages. Looking changes nothing, however often it is done; only the form of the page acts. */
export function addLinkRoutes(
  server: FastifyInstance,
  { links, clock, bodies }: { readonly links: Links; readonly clock: Clock; readonly bodies: ByteBudget },
): void {
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: LinkAnswer,
    wasFollowed: boolean,
  ): Promise<FastifyReply> => {
    if (answer.kind === "refused" && answer.reason === "altered") request.failedVia = "link";
    void reply.code(statusOf(answer, wasFollowed));
    const { title, main: said } = renderAnswer(answer, wasFollowed, clock.nowMs());
    const main = html`<div class="head"><h1>${title}</h1></div>
      <div class="signin"><div>${said}</div></div>`;
    const text = renderSheet(`${title} · flatline`, main);
    // Its address is what lets act.
    return sendHtml(request, reply, text, "no-referrer");
  };
  addRoute(server, "GET /act/acknowledge/:incident", {
    access: "open",
    handle: async ({ request, reply }) => send(request, reply, await links.look(partsOf(request)), false),
  });
  addRoute(server, "POST /act/acknowledge/:incident", {
    access: "open",
    handle: async ({ request, reply }) => {
      const form = await receiveForm(request, reply, { mostBytes: mostFormBytes, budget: bodies });
      return send(request, reply, await links.follow(partsOf(request), personNameOf(form)), true);
    },
  });
}

function partsOf(request: FastifyRequest): LinkParts {
  const { incident } = request.params as { readonly incident: string };
  const { searchParams } = new URL(request.url, "http://flatline.invalid");
  const given = (name: string): string => searchParams.get(name) ?? "";
  return { incident, receiver: given("receiver"), until: given("until"), signature: given("signature") };
}

// A name and its field.
const mostFormBytes = 1_024;

function statusOf(answer: LinkAnswer, wasFollowed: boolean): number {
  if (answer.kind === "refused") return 403;
  if (!wasFollowed) return 200;
  return answer.outcome === "no_alert" ? 409 : 200;
}

/** What the link would do, or did; it has nothing of the link itself. */
function renderAnswer(answer: LinkAnswer, wasFollowed: boolean, nowMs: number): Content {
  if (answer.kind === "refused") return refusedContent(answer.reason);
  const { title, main } = wasFollowed ? doneContent(answer) : askContent(answer, nowMs);
  const link = html`<p><a href="/incidents/${answer.incident}">Open incident ${answer.incident}</a></p>`;
  return { title, main: html`${main} ${link}` };
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
