import type { FastifyInstance } from "fastify";

import { nearestName } from "../../../base/suggestions.ts";
import { literalOf } from "../../../base/text-pattern.ts";
import { timeText } from "../../../words/numbers.ts";
import { authorOf, readerOf } from "../../access/identity.ts";
import { malformed } from "../../api/read-input.ts";
import { readSilence } from "../../api/silence-routes.ts";
import type { WebParts } from "../../parts.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { readSilences } from "../../read/silences.ts";
import { endOf, renderDialog, renderField, renderLengths } from "../dialog.ts";
import { missing } from "../site.ts";
import { path, renderSilences } from "./silences.ts";

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

  site.addAct(server, "/silences/new", "operate", {
    ask: ({ request, search }, problem) => {
      const author = readerOf(request) ?? "";
      const main = renderNewSilence(search, { checks: checkNames(), problem, author, nowMs: clock.nowMs() });
      return { ...around, isDialog: true, main };
    },
    perform: async ({ request, search }) => {
      const nowMs = clock.nowMs();
      const silence = readSilence(bodyOf(search, nowMs), nowMs, checkNames());
      requireKnown(
        silence.slug,
        config().organizations.map(({ slug }) => slug),
      );
      await silences.add(silence, authorOf(request));
      return { did: `Silenced until ${timeText(silence.endsAtMs, nowMs)}.`, path };
    },
  });

  site.addAct(server, "/silences/:id/end", "operate", {
    perform: async ({ request, params: { id } }) => {
      if (await silences.expire(id, authorOf(request))) return { did: "The silence has ended.", path };
      return missing("silences", "There is no such silence.", html`<a href="${path}">All silences</a>`);
    },
  });
}

/** The form as the API's body. */
function bodyOf(form: URLSearchParams, nowMs: number): unknown {
  const { slug = "", check = "", comment = "" } = Object.fromEntries(form);
  return { slug: slug.trim(), ...(check === "" ? {} : { check }), endsAt: endOf(form, nowMs), comment };
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
  const content = html`<p>
      Messages stop. Checks run on, alerts still fire, takedowns stay on hold. Its end is notified if its beginning was.
    </p>
    ${renderField("Organization, or a pattern with *", "slug", form.get("slug"), html`maxlength="512" required spellcheck="false"`)}
    ${renderLengths(form, nowMs)}
    <label class="field"
      >Which checks<select name="check">
        <option value="">All checks</option>
        ${checks.map((name) => html`<option ${name === form.get("check") ? html` selected` : nothing}>${name}</option>`)}
      </select></label
    >
    ${renderField("Why? (needed)", "comment", form.get("comment"), html`maxlength="2000" required`)}`;
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
