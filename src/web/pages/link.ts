import type { FastifyInstance, FastifyReply } from "fastify";

import type { Severity } from "../../contract/severity.ts";
import { timeText } from "../../words/numbers.ts";
import { sendHtml } from "../answer.ts";
import { personNameOf, receiveForm } from "../body.ts";
import type { WebParts } from "../parts.ts";
import { html, type Html } from "../parts/html.ts";
import { addRoute, type Asked } from "../route.ts";
import { mark } from "./marks.ts";
import { renderSheet } from "./frame.ts";

/** The parts of a message's link, unchecked. */
export interface LinkParts {
  readonly incident: string;
  readonly receiver: string;
  readonly until: string;
  readonly signature: string;
}

/** A valid link, with its effect. */
export interface LinkView {
  readonly kind: "known";
  readonly incident: number;
  readonly receiver: string;
  readonly expiresAtMs: number;
  readonly outcome: "applied" | "repeated" | "late" | "no_alert" | "unchanged";
  /** null: nothing is left to acknowledge. */
  readonly subject: { readonly name: string; readonly severity: Severity; readonly words: string } | null;
}

export type LinkAnswer = LinkView | { readonly kind: "refused"; readonly reason: "altered" | "expired" };

export interface Links {
  /** Returns what the link would do; changes nothing. */
  look(link: LinkParts): Promise<LinkAnswer>;
  /** Does it once; `name` is the person's own claim; null: none. */
  follow(link: LinkParts, name: string | null): Promise<LinkAnswer>;
}

const mostFormBytes = 1_024;

type LinkAsked = Pick<Asked<":incident", unknown, unknown>, "request" | "reply" | "search" | "params">;

/** Adds `/act/acknowledge/…`, the links of messages: opening one changes nothing, only its form acts. */
export function addLinkRoutes(server: FastifyInstance, { links, running, bodies }: WebParts): void {
  function send({ request, reply }: LinkAsked, answer: LinkAnswer, wasFollowed: boolean): Promise<FastifyReply> {
    if (answer.kind === "refused" && answer.reason === "altered") request.failedVia = "link";
    void reply.code(answer.kind === "refused" ? 403 : wasFollowed && answer.outcome === "no_alert" ? 409 : 200);
    const { title, main } = renderAnswer(answer, wasFollowed, running.clock.nowMs());
    const head = html`<div class="head"><h1>${title}</h1></div>`;
    // The address alone lets anyone act: no request may carry it as `Referer`.
    return sendHtml(request, reply, renderSheet(`${title} · flatline`, html`${head} ${main}`), "no-referrer");
  }
  addRoute(server, "GET /act/acknowledge/:incident", {
    access: "open",
    handle: async (asked) => send(asked, await links.look(partsOf(asked)), false),
  });
  addRoute(server, "POST /act/acknowledge/:incident", {
    access: "open",
    handle: async (asked) => {
      const form = await receiveForm(asked.request, asked.reply, { mostBytes: mostFormBytes, budget: bodies });
      return send(asked, await links.follow(partsOf(asked), personNameOf(form)), true);
    },
  });
}

function partsOf({ search, params: { incident } }: LinkAsked): LinkParts {
  const given = (name: string): string => search.get(name) ?? "";
  return { incident, receiver: given("receiver"), until: given("until"), signature: given("signature") };
}

/** Renders the link's effect; the page does not contain the link itself. */
function renderAnswer(answer: LinkAnswer, wasFollowed: boolean, nowMs: number): { title: string; main: Html } {
  const [title, text] = sentences[answer.kind === "refused" ? answer.reason : answer.outcome];
  const said = html`<p>${text}</p>`;
  if (answer.kind === "refused") return { title, main: said };
  const { incident, subject, outcome } = answer;
  const link = html`<p><a href="/incidents/${incident}">Open incident ${incident}</a></p>`;
  if (wasFollowed || outcome !== "applied" || subject === null) return { title, main: html`${said} ${link}` };
  return { title: `Acknowledge ${subject.name}?`, main: html`${renderForm(answer, subject, nowMs)} ${link}` };
}

const sentences: Readonly<Record<LinkView["outcome"] | "altered" | "expired", readonly [title: string, text: string]>> =
  {
    altered: ["This link was altered or is for something else.", "Nothing was changed."],
    expired: ["This link has expired.", "Nothing was changed. Open the incident on its page."],
    applied: ["Acknowledged.", "There are no reminders until it gets worse, or ends."],
    repeated: ["Done already.", "Nothing was changed again."],
    late: ["Done already.", "Nothing was changed again."],
    unchanged: ["Done already.", "It was acknowledged before. Nothing was changed."],
    no_alert: ["The incident has ended.", "There is nothing left to do. Nothing was changed."],
  };

function renderForm(
  { receiver, expiresAtMs }: LinkView,
  { severity, words }: NonNullable<LinkView["subject"]>,
  nowMs: number,
): Html {
  return html`<p><span class="severity ${severity}">${mark(severity)}${severity}</span>: ${words}</p>
    <p>You acknowledge it: no more reminders, and nobody else is called. What is on hold stays on hold.</p>
    <p>You are told when it gets worse, and when it ends.</p>
    <form method="post">
      <label class="field"
        >Your name, as others will read it<input type="text" name="name" maxlength="128" autocomplete="name"
      /></label>
      <p><button class="primary">Acknowledge</button></p>
    </form>
    <p class="second">
      As ${receiver}, to which the link was sent. For this act alone, valid until ${timeText(expiresAtMs, nowMs)} UTC.
      Opening it changed nothing.
    </p>`;
}
