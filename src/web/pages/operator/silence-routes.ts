import type { FastifyInstance, FastifyRequest } from "fastify";

import { FlatlineError } from "../../../base/errors.ts";
import { nearestName } from "../../../base/suggestions.ts";
import { literalOf } from "../../../base/text-pattern.ts";
import { hourMs, minuteMs } from "../../../base/time.ts";
import { timeText } from "../../../words/numbers.ts";
import { authorOf, readerOf } from "../../access/identity.ts";
import { malformed } from "../../api/read-input.ts";
import { readSilence } from "../../api/silence-routes.ts";
import type { WebParts } from "../../parts.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { readSilences } from "../../read/silences.ts";
import { renderDialog } from "../dialog.ts";
import { renderMessage } from "../frame.ts";
import { missing, sentenceOf } from "../site.ts";
import { path, renderSilences } from "./silences.ts";

const lengths = ["1", "4", "24", "until"] as const;
const around = { title: "Silences · flatline", current: "silences" } as const;

/** `/silences`, the dialog that makes one, and the form that ends one. */
export function addSilencePages(server: FastifyInstance, { site, running, silences }: WebParts): void {
  const { clock, config, checkNames } = running;
  site.addPage(server, "/silences", "read", async ({ search }) => {
    const main = renderSilences({
      silences: await readSilences(running),
      params: search,
      retentionMs: config().storage.retentionMs,
      nowMs: clock.nowMs(),
    });
    return { ...around, isLive: true, main };
  });

  const dialogOf = (request: FastifyRequest, form: URLSearchParams, problem = "") => {
    const author = readerOf(request) ?? "";
    const main = renderNewSilence(form, { checks: checkNames(), problem, author, nowMs: clock.nowMs() });
    return { ...around, isDialog: true, status: problem === "" ? 200 : 422, main };
  };

  site.addAct(server, "/silences/new", "operate", {
    ask: ({ request, search }) => dialogOf(request, search),
    perform: async ({ request, form }) => {
      const nowMs = clock.nowMs();
      try {
        const silence = readSilence(bodyOf(form, nowMs), nowMs, checkNames());
        requireKnown(
          silence.slug,
          config().organizations.map(({ slug }) => slug),
        );
        await silences.add(silence, authorOf(request));
        return { did: `Silenced until ${timeText(silence.endsAtMs, nowMs)}.`, path };
      } catch (error) {
        if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
        return dialogOf(request, form, sentenceOf(error.issues.join("; ") || error.message));
      }
    },
  });

  site.addAct(server, "/silences/:id/end", "operate", {
    perform: async ({ request, params: { id } }) => {
      if (await silences.expire(id, authorOf(request))) return { did: "The silence has ended.", path };
      const main = renderMessage("There is no such silence.", html`<a href="${path}">All silences</a>`);
      return missing("silences", main);
    },
  });
}

/** The form as the API's body. */
function bodyOf(form: URLSearchParams, nowMs: number): unknown {
  const { slug = "", check = "", until = "", comment = "", hours } = Object.fromEntries(form);
  const endsAt = hours === "until" ? `${until}:00Z` : new Date(nowMs + Number(hours) * hourMs).toISOString();
  return { slug: slug.trim(), ...(check === "" ? {} : { check }), endsAt, comment };
}

/** A pattern may be of organizations to come; a name that nobody has is a slip. */
function requireKnown(pattern: string, known: readonly string[]): void {
  const only = literalOf(pattern);
  if (only === null || known.includes(only)) return;
  const nearest = nearestName(only, known);
  throw malformed([`no organization is called ${only}.${nearest === null ? "" : ` Did you mean ${nearest}?`}`]);
}

interface NewSilenceView {
  readonly checks: readonly string[];
  readonly problem: string;
  readonly author: string;
  readonly nowMs: number;
}

function renderNewSilence(form: URLSearchParams, { checks, problem, author, nowMs }: NewSilenceView): Html {
  const hours = form.get("hours") ?? "4";
  const choices = lengths.map((one) => {
    const ends =
      one === "until" ? "until, in UTC" : html`${one} h, to ${timeText(nowMs + Number(one) * hourMs, nowMs)}`;
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
        value="${form.get("slug") ?? ""}"
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
          value="${form.get("until") ?? ""}"
        />
      </p>
    </fieldset>
    <label class="field"
      >Which checks<select name="check">
        <option value="">All checks</option>
        ${checks.map((name) => html`<option ${name === form.get("check") ? html` selected` : nothing}>${name}</option>`)}
      </select></label
    >
    <label class="field"
      >Why? <b>needed</b
      ><input type="text" name="comment" required maxlength="2000" value="${form.get("comment") ?? ""}"
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
