import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { firstCharacters } from "../../../base/cut-text.ts";
import { nearestName } from "../../../base/suggestions.ts";
import { literalOf } from "../../../base/text-pattern.ts";
import { hourMs, minuteMs } from "../../../base/time.ts";
import { timeText } from "../../../words/numbers.ts";
import { authorOf, readerOf } from "../../access/identity.ts";
import { paramsOf } from "../../answer.ts";
import { receiveForm } from "../../body.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderDialog } from "../dialog.ts";
import { renderMessage } from "../frame.ts";
import type { AddPage } from "../site.ts";
import type { OperatorPageRoutes } from "./routes.ts";
import { readSilences } from "../../read/silences.ts";
import { path, renderSilences } from "./silences.ts";

/** What a form says of a silence. */
interface SilenceForm {
  /** The pattern of organizations. */
  readonly slug: string;
  /** null: all checks. */
  readonly check: string | null;
  /** Hours as text, or `until`. */
  readonly hours: string;
  /** The value of a `datetime-local` field, in UTC. */
  readonly until: string;
  readonly comment: string;
}

type Routes = Pick<OperatorPageRoutes, "site" | "running" | "silences" | "bodies">;

const lengths = ["1", "4", "24", "until"] as const;
const longestComment = 1_000;
// A slug, a reason and a few choices.
const mostFormBytes = 16 * 1_024;
const around = { title: "Silences · flatline", current: "silences" } as const;

/** `/silences`, the dialog that makes one, and the form that ends one. */
export function addSilencePages(
  scope: FastifyInstance,
  addPage: AddPage,
  { site, running, silences, bodies }: Routes,
): void {
  const { clock, config, checkNames } = running;
  addPage("/silences", "read", async (request, reply) => {
    const main = renderSilences({
      silences: await readSilences(running),
      params: paramsOf(request),
      retentionMs: config().storage.retentionMs,
      nowMs: clock.nowMs(),
    });
    return site.send(request, reply, { ...around, isLive: true, main });
  });

  function sendNew(request: FastifyRequest, reply: FastifyReply, form: SilenceForm, problem: string): unknown {
    const author = readerOf(request) ?? "";
    const dialog = renderNewSilence(form, { checks: checkNames(), problem, author, nowMs: clock.nowMs() });
    return site.sendDialog(request, reply, dialog, around);
  }

  site.addAct(scope, "/silences/new", "operate", {
    ask: (request, reply) => sendNew(request, reply, readForm(paramsOf(request), checkNames()), ""),
    perform: async (request, reply) => {
      const sent = await receiveForm(request, reply, { mostBytes: mostFormBytes, budget: bodies });
      const form = readForm(sent, checkNames());
      const nowMs = clock.nowMs();
      const known = config().organizations.map(({ slug }) => slug);
      const endsAtMs = endOf(form, nowMs);
      const problem = problemOf(form, known) ?? (endsAtMs <= nowMs ? "Choose a time that is to come." : null);
      if (problem !== null) return sendNew(request, reply.code(422), form, problem);
      const { slug, check, comment } = form;
      await silences.add({ slug, check, startsAtMs: nowMs, endsAtMs, comment }, authorOf(request));
      return site.sendDone(request, reply, `Silenced until ${timeText(endsAtMs, nowMs)}.`, path);
    },
  });

  site.addAct(scope, "/silences/:id/end", "operate", {
    perform: async (request, reply) => {
      const { id } = request.params as { readonly id: string };
      if (await silences.expire(id, authorOf(request)))
        return site.sendDone(request, reply, "The silence has ended.", path);
      const main = renderMessage("There is no such silence.", html`<a href="${path}">All silences</a>`);
      return site.sendMissing(request, reply, { current: "silences", main });
    },
  });
}

/** Reads it from the fields of a form or a link; `checks` are the names that there are. */
function readForm(form: URLSearchParams, checks: readonly string[]): SilenceForm {
  return {
    slug: (form.get("slug") ?? "").trim(),
    check: checks.find((name) => name === form.get("check")) ?? null,
    hours: lengths.find((one) => one === form.get("hours")) ?? "4",
    until: form.get("until") ?? "",
    comment: firstCharacters((form.get("comment") ?? "").trim(), longestComment),
  };
}

/** When it ends; 0: nobody said a time. */
function endOf({ hours, until }: Pick<SilenceForm, "hours" | "until">, nowMs: number): number {
  return hours === "until" ? Date.parse(`${until}Z`) || 0 : nowMs + Number(hours) * hourMs;
}

/** Returns why it cannot be made, or null; `known` are the names of organizations. */
function problemOf({ slug, comment }: SilenceForm, known: readonly string[]): string | null {
  if (slug === "") return "Name an organization, or a pattern with *.";
  const only = literalOf(slug);
  if (only !== null && !known.includes(only)) {
    const nearest = nearestName(only, known);
    return `No organization is called ${only}.${nearest === null ? "" : ` Did you mean ${nearest}?`}`;
  }
  return comment === "" ? "Write why: whoever is on call reads it." : null;
}

function renderNewSilence(
  { slug, check, hours, until, comment }: SilenceForm,
  {
    checks,
    problem,
    author,
    nowMs,
  }: {
    readonly checks: readonly string[];
    readonly problem: string;
    readonly author: string;
    readonly nowMs: number;
  },
): Html {
  const choices = lengths.map((one) => {
    const ends =
      one === "until" ? "until, in UTC" : html`${one} h, to ${timeText(endOf({ hours: one, until }, nowMs), nowMs)}`;
    return html`<label
      ><input type="radio" name="hours" value="${one}" ${one === hours ? html` checked` : nothing} />${ends}</label
    > `;
  });
  const content = html`<p>
      Messages stop. Checks run on, alerts still fire, takedowns stay on hold. Its end is notified if its beginning was.
    </p>
    <label class="field"
      >Organization, or a pattern with *<input
        type="text"
        name="slug"
        value="${slug}"
        maxlength="512"
        required
        autocomplete="off"
        spellcheck="false"
    /></label>
    <fieldset class="lengths">
      <legend>For how long</legend>
      <p class="row">
        ${choices}<input
          type="datetime-local"
          name="until"
          aria-label="Until, in UTC"
          min="${new Date(nowMs + minuteMs).toISOString().slice(0, 16)}"
          value="${until}"
        />
      </p>
    </fieldset>
    <label class="field"
      >Which checks<select name="check">
        <option value="">All checks</option>
        ${checks.map((name) => html`<option ${name === check ? html` selected` : nothing}>${name}</option>`)}
      </select></label
    >
    <label class="field"
      >Why? <b>needed</b
      ><input type="text" name="comment" required maxlength="${2 * longestComment}" value="${comment}"
    /></label>`;
  return renderDialog({
    action: `${path}/new`,
    title: "Silence which organization?",
    content,
    problem,
    foot: `As ${author}. Can be ended at any time.`,
    verb: "Silence",
    back: path,
  });
}
