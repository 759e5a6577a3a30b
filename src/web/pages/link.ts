import type { FastifyInstance, FastifyReply } from "fastify";

import type { ActLink, GivenLink } from "../../alerting/act-link.ts";
import type { OutsideOutcome } from "../../alerting/outside-acts.ts";
import type { Severity } from "../../contract/severity.ts";
import { timeText } from "../../words/numbers.ts";
import { sendHtml } from "../answer.ts";
import { personNameOf, receiveForm } from "../input.ts";
import type { WebParts } from "../parts.ts";
import { html, mark, type Html } from "./html.ts";
import { addRoute, type Asked } from "../route.ts";
import { renderSheet } from "./frame.ts";

/** A valid link, with its effect. */
export interface LinkView extends Pick<ActLink, "incident" | "receiver" | "expiresAtMs"> {
  readonly outcome: OutsideOutcome;
  /** null: nothing is left to acknowledge. */
  readonly subject: { readonly name: string; readonly severity: Severity; readonly words: string } | null;
}

export type LinkAnswer = LinkView | "altered" | "expired";

export interface Links {
  /** Returns what the link would do; changes nothing. */
  look(link: GivenLink): Promise<LinkAnswer>;
  /** Does it once; `name` is the person's own claim; null: none. */
  follow(link: GivenLink, name: string | null): Promise<LinkAnswer>;
}

const mostFormBytes = 1_024;

type LinkAsked = Pick<Asked<":incident", unknown, unknown>, "request" | "reply" | "search" | "params">;

/** Adds `/act/acknowledge/…`, the links of messages: opening one changes nothing, only its form acts. */
export function addLinkRoutes(server: FastifyInstance, { links, running, bodies }: WebParts): void {
  function send({ request, reply }: LinkAsked, answer: LinkAnswer, wasFollowed: boolean): Promise<FastifyReply> {
    if (answer === "altered") request.failedVia = "link";
    const isGone = wasFollowed && typeof answer !== "string" && answer.outcome === "no_alert";
    void reply.code(typeof answer === "string" ? 403 : isGone ? 409 : 200);
    const { title, main } = renderAnswer(answer, wasFollowed, running.clock.nowMs());
    const head = html`<div class="head"><h1>${title}</h1></div>`;
    // The address alone lets anyone act: no request may carry it as `Referer`.
    return sendHtml(request, reply, renderSheet(`${title} · flatline`, html`${head} ${main}`), "no-referrer");
  }
  addRoute(server, "GET /act/acknowledge/:incident", {
    access: "open",
    handle: async (asked) => send(asked, await links.look(linkOf(asked)), false),
  });
  addRoute(server, "POST /act/acknowledge/:incident", {
    access: "open",
    handle: async (asked) => {
      const form = await receiveForm(asked.request, asked.reply, { mostBytes: mostFormBytes, budget: bodies });
      return send(asked, await links.follow(linkOf(asked), personNameOf(form)), true);
    },
  });
}

function linkOf({ search, params: { incident } }: LinkAsked): GivenLink {
  const given = (name: string): string => search.get(name) ?? "";
  return { incident, receiver: given("receiver"), until: given("until"), signature: given("signature") };
}

const sentences: Readonly<Record<OutsideOutcome | "altered" | "expired", readonly [title: string, text: string]>> = {
  altered: ["This link was altered or is for something else.", "Nothing was changed."],
  expired: ["This link has expired.", "Nothing was changed. Open the incident on its page."],
  applied: ["Acknowledged.", "There are no reminders until it gets worse, or ends."],
  repeated: ["Done already.", "Nothing was changed again."],
  late: ["Done already.", "Nothing was changed again."],
  unchanged: ["Done already.", "It was acknowledged before. Nothing was changed."],
  no_alert: ["The incident has ended.", "There is nothing left to do. Nothing was changed."],
};

/** Renders the link's effect; the page does not contain the link itself. */
function renderAnswer(answer: LinkAnswer, wasFollowed: boolean, nowMs: number): { title: string; main: Html } {
  const [title, text] = sentences[typeof answer === "string" ? answer : answer.outcome];
  const said = html`<p>${text}</p>`;
  if (typeof answer === "string") return { title, main: said };
  const { incident, receiver, expiresAtMs, subject, outcome } = answer;
  const link = html`<p><a href="/incidents/${incident}">Open incident ${incident}</a></p>`;
  if (wasFollowed || outcome !== "applied" || subject === null) return { title, main: html`${said} ${link}` };
  const { name, severity, words } = subject;
  const main = html`<p><span class="severity ${severity}">${mark(severity)}${severity}</span>: ${words}</p>
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
    </p>
    ${link}`;
  return { title: `Acknowledge ${name}?`, main };
}
