import type { FastifyInstance, FastifyRequest } from "fastify";

import type { IncidentAct, IncidentActResult, SkipReason } from "../../../alerting/acts/plan-act.ts";
import { FlatlineError } from "../../../base/errors.ts";
import { formatCount } from "../../../base/numbers.ts";
import { hourMs } from "../../../base/time.ts";
import { judgementVerdicts, type JudgementVerdict } from "../../../contract/judgement.ts";
import { countOf, timeText } from "../../../words/numbers.ts";
import { authorOf, readerOf } from "../../access/identity.ts";
import { askedActs, rightOf } from "../../acts.ts";
import { readInput } from "../../api/read-input.ts";
import { html, nothing, type Html } from "../../parts/html.ts";

import type { IncidentDetail, IncidentReading, ReadIncident } from "../../read/incidents.ts";
import { renderDialog, renderThen } from "../dialog.ts";
import { missingIncident, sentenceOf, type Site } from "../site.ts";
import { incidentTitle } from "./incident.ts";
import { excessOf, memberFactsOf, sharesCause, type MemberFacts } from "./member-facts.ts";

export type DialogAct = Exclude<IncidentAct["kind"], "withdraw">;

interface Words {
  /** Of one organization; of several, `#` stands for their number. */
  readonly title: readonly [one: string, several: string];
  readonly verb: string;
  readonly done: string;
  readonly foot: string;
  /** The label of the comment [it takes none], and whether there must be one. */
  readonly comment?: readonly [label: string, isNeeded: boolean];
}

const words: Readonly<Record<DialogAct, Words>> = {
  acknowledge: {
    title: ["Acknowledge it?", "Acknowledge # organizations?"],
    verb: "Acknowledge",
    done: "acknowledged",
    foot: "It ends with the alert, or when it gets worse.",
    comment: ["What are you doing about it? (optional, shown to the others)", false],
  },
  unacknowledge: {
    title: ["Take the acknowledgement back?", "Take back the acknowledgement of # organizations?"],
    verb: "Take back",
    done: "taken back",
    foot: "Reminders go on.",
  },
  judge: {
    title: ["What was it?", "What was it, in # organizations?"],
    verb: "Judge",
    done: "judged",
    foot: "Can be changed later.",
    comment: ["How do you know? (optional, kept with each judgement)", false],
  },
  release: {
    title: ["Release its deaths?", "Release the deaths of # organizations?"],
    verb: "Release",
    done: "released",
    foot: "What pipelines then do, flatline cannot undo.",
    comment: ["Why may they be acted on? (kept with your name)", true],
  },
  silence: {
    title: ["Silence it?", "Silence these # organizations?"],
    verb: "Silence",
    done: "silenced",
    foot: "Can be ended at any time.",
    comment: ["Why? (kept with your name)", true],
  },
  comment: {
    title: ["Comment on it?", "Comment on it?"],
    verb: "Comment",
    done: "commented on",
    foot: "It stays with the incident and cannot be changed.",
    comment: ["What do you know?", true],
  },
};

const verdictChoices: Readonly<Record<JudgementVerdict, readonly [name: string, meaning: string]>> = {
  checker: ["The checker was wrong", "These assets are alive."],
  real: ["The assets did die", "Attackers left, or somebody took them down."],
  expected: ["It was expected", "Known beforehand: a clean-up, an expiry, a move."],
};

const durations = ["1h", "4h", "1d", "7d"] as const;
const shownNames = 5;

export interface ActDialogs {
  readonly site: Site;
  readonly incidents: Pick<IncidentReading, "act" | "foresee" | "look">;
  readonly find: (id: string, withDetails: boolean) => Promise<IncidentDetail | null>;
}

/** What a dialog is about: an incident, with what has been filled in. */
interface Asked {
  readonly request: FastifyRequest;
  readonly page: IncidentDetail;
  readonly form: URLSearchParams;
}

// All members of a large incident, ticked one by one.
const mostFormBytes = 1_024 * 1_024;

/** `/incidents/N/ACT`: the dialog of each act, which without scripts is a page, and its form. */
export function addActDialogs(server: FastifyInstance, { site, incidents, find }: ActDialogs): void {
  /** `problem`: why it was not done; empty: it was not tried. */
  function addDialog(
    act: DialogAct | "look",
    render: (asked: Asked, problem: string) => Promise<Html>,
    perform: (asked: Asked) => Promise<string>,
  ): void {
    const show = async (asked: Asked, problem = "", status = 200) => {
      const main = await render(asked, problem);
      return { isDialog: true, status, title: incidentTitle(asked.page), current: "incidents", main } as const;
    };
    site.addAct(server, `/incidents/:id/${act}`, act === "look" ? "operate" : rightOf(act), {
      mostBytes: mostFormBytes,
      ask: async ({ request, params: { id }, search, withDetails }) => {
        const page = await find(id, withDetails);
        return page === null ? missingIncident(id) : show({ request, page, form: search });
      },
      perform: async ({ request, params: { id }, form, withDetails }) => {
        const page = await find(id, withDetails);
        if (page === null) return missingIncident(id);
        const asked = { request, page, form };
        try {
          return { did: await perform(asked), path: `/incidents/${page.incident.number}` };
        } catch (error) {
          if (!isMistake(error)) throw error;
          const problem = sentenceOf(error.issues.join("; ") || error.message);
          return show(asked, problem, error.code === "invalid_data" ? 422 : error.httpStatus);
        }
      },
    });
  }

  for (const act of Object.keys(words) as DialogAct[])
    addDialog(
      act,
      async (asked, problem) => {
        const { request, page, form } = asked;
        const slugs = form.getAll("slug");
        const meant = { incident: page.incident.number, author: authorOf(request), slugs: slugs.length ? slugs : null };
        try {
          return renderActDialog(act, asked, await incidents.foresee(meant), problem);
        } catch (error) {
          // It cannot be done at all.
          if (!isMistake(error)) throw error;
          return renderNothing(page, problem || sentenceOf(error.message));
        }
      },
      async ({ request, page, form }) => {
        const { act: what, slugs } = readInput(askedActs[act], bodyOf(form))(page.nowMs);
        const asked = { incident: page.incident.number, author: authorOf(request), slugs };
        if (act === "release") requireTyped(form, (await incidents.foresee(asked))(what));
        return doneSentence(act, await incidents.act({ ...asked, act: what }));
      },
    );
  addDialog(
    "look",
    async ({ request, page }, problem) => {
      const back = `/incidents/${page.incident.number}`;
      return renderDialog({
        action: `${back}/look`,
        title: "Ask the verifier about its dead assets?",
        content: html`<p>
          The verifier is asked about some of them, drawn anew, and beside them about assets of which the answer is
          known.
        </p>`,
        problem,
        foot: `As ${readerOf(request) ?? ""}. The verifier looks at these pages; their owners may see it.`,
        verb: "Look",
        back,
      });
    },
    async ({ request, page }) => {
      await incidents.look(page.incident, authorOf(request));
      return "The verifier is asked.";
    },
  );
}

function isMistake(error: unknown): error is FlatlineError {
  return error instanceof FlatlineError && error.fault !== "bug";
}

/** The form as the API's body. */
function bodyOf(form: URLSearchParams): unknown {
  const { slug: _slug, typed: _typed, ...said } = Object.fromEntries(form);
  const slugs = form.getAll("slug");
  return slugs.length === 0 ? said : { ...said, slugs };
}

function requireTyped(form: URLSearchParams, { done }: IncidentActResult): void {
  if (done.length > 1 && form.get("typed")?.trim() !== String(done.length))
    throw new FlatlineError("invalid_data", `type ${done.length} to release so many`);
}

type Foresee = (act: IncidentAct) => IncidentActResult;

function renderActDialog(act: DialogAct, { request, page, form }: Asked, foresee: Foresee, problem: string): Html {
  const { title, verb, foot, comment } = words[act];
  const back = `/incidents/${page.incident.number}`;
  const result = foresee(previewOf(act, page.nowMs));
  const ids = new Set(result.done.map(({ alertId }) => alertId));
  // Each verdict can be given again to who was judged otherwise.
  if (act === "judge")
    for (const verdict of judgementVerdicts)
      for (const { alertId } of foresee({ kind: act, verdict, comment: null }).done) ids.add(alertId);
  const meant = memberFactsOf(page).filter(({ member }) => ids.has(member.id));
  if (meant.length === 0) return renderNothing(page, problem || whyNothing(act, result));
  const ticked = form.getAll("slug").map((slug) => html`<input type="hidden" name="slug" value="${slug}" />`);
  const field =
    comment &&
    html`<label class="field"
      >${comment[0]}<input
        type="text"
        name="comment"
        maxlength="2000"
        value="${form.get("comment") ?? ""}"
        ${comment[1] ? html`required` : nothing}
    /></label>`;
  const count = formatCount(meant.length);
  return renderDialog({
    action: `${back}/${act}`,
    title: title[meant.length === 1 ? 0 : 1].replace("#", count),
    content: html`${renderEvidence(page, act === "judge" ? meant : [])}${
      ticked.length === 0 ? nothing : html`<p>${namesOf(meant)}</p>`
    }${ticked}${renderChoices(act, { page, form, meant, result, foresee })}${field ?? nothing}`,
    problem,
    foot: `As ${readerOf(request) ?? ""}. ${foot}`,
    verb: meant.length === 1 || act === "comment" || act === "unacknowledge" ? verb : `${verb} ${count}`,
    back,
  });
}

/** Says why there is nothing to do. */
function renderNothing(page: IncidentDetail, title: string): Html {
  const back = `/incidents/${page.incident.number}`;
  return renderDialog({ action: null, title, content: renderEvidence(page, []), foot: "", back });
}

function whyNothing(act: DialogAct, result: IncidentActResult): string {
  if (act === "release") return "Nothing of it is on hold.";
  return result.skipped.some(({ reason }) => reason === "already") ? doneSentence(act, result) : "Nothing of it fires.";
}

/** The act as far as it is known before one has filled in the form. */
function previewOf(kind: DialogAct, nowMs: number): IncidentAct {
  const comment = "";
  if (kind === "judge") return { kind, verdict: "checker", comment };
  if (kind === "silence") return { kind, endsAtMs: nowMs + hourMs, comment };
  return kind === "unacknowledge" ? { kind } : { kind, comment };
}

/** What it is; `judged`: of whom it is asked what it was, and the evidence is said. */
function renderEvidence({ incident, nowMs }: ReadIncident, judged: readonly MemberFacts[]): Html {
  const began = timeText(incident.startedAtMs, nowMs);
  const span = incident.endedAtMs === null ? `since ${began}` : `${began} to ${timeText(incident.endedAtMs, nowMs)}`;
  const odd = judged.filter((one) => !sharesCause(one));
  const verb = odd.length === 1 ? "does" : "do";
  const apart =
    odd.length === 0 || odd.length === judged.length
      ? ""
      : ` ${formatCount(odd.length)} of them ${verb} not share what the others do: ${namesOf(odd)}.`;
  return html`<p>Incident ${incident.number}, ${span}.${apart}</p>`;
}

function namesOf(some: readonly MemberFacts[]): string {
  const names = some.slice(0, shownNames).map(({ slug }) => slug);
  const more = some.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
}

interface Choices {
  readonly page: IncidentDetail;
  readonly form: URLSearchParams;
  readonly meant: readonly MemberFacts[];
  readonly result: IncidentActResult;
  readonly foresee: Foresee;
}

/** What is chosen, and what follows from it. */
function renderChoices(act: DialogAct, { page, form, meant, result, foresee }: Choices): Html {
  const radio = (name: string, value: string, chosen: string | null): Html =>
    html`<input type="radio" name="${name}" value="${value}" required${value === chosen ? html` checked` : nothing} />`;
  switch (act) {
    case "judge": {
      const chosen = form.get("verdict") ?? proposedVerdict(page);
      return html`<fieldset>
        <legend class="sr">What it was</legend>
        ${judgementVerdicts.map((verdict) => {
          const [name, meaning] = verdictChoices[verdict];
          const lines = judgeLines(verdict, meant, foresee({ kind: "judge", verdict, comment: null }));
          return html`<label class="choice"
            >${radio("verdict", verdict, chosen)}<span><b>${name}</b><span class="under">${meaning}</span></span
            >${renderThen(lines)}</label
          >`;
        })}
      </fieldset>`;
    }
    case "acknowledge": {
      const { escalation, nowMs } = page;
      const lines: Line[] = [["Reminders", "stop, until it gets worse"]];
      if (escalation !== null)
        lines.push(["Not called", `${escalation.receiver}, due at ${timeText(escalation.atMs, nowMs)}`]);
      return renderThen(lines);
    }
    case "release":
      return renderRelease(meant, result);
    case "silence":
      return html`<fieldset class="who">
          <legend>For how long</legend>
          <p class="row">
            ${durations.map((one) => html`<label>${radio("duration", one, form.get("duration") ?? "4h")}${one}</label> `)}
          </p>
        </fieldset>
        ${renderThen([["Messages", "stop; checks run on, and what is on hold stays on hold"]])}`;
    case "unacknowledge":
    case "comment":
      return nothing;
    default:
      return act satisfies never;
  }
}

type Line = [name: string, text: string];

/** What a verdict does. */
function judgeLines(
  verdict: JudgementVerdict,
  meant: readonly MemberFacts[],
  { gatesOpened: { length: opened }, gatesHeld: { length: held } }: IncidentActResult,
): Line[] {
  const of = (count: number): string => (meant.length === 1 ? "" : `of ${countOf(count, "organization")} `);
  const until = `${verdict === "checker" ? "the alert ends, or " : ""}somebody releases them`;
  const lines: Line[] = [];
  if (opened > 0) lines.push(["Takedowns", `${of(opened)}allowed at once`]);
  if (held > 0) lines.push([opened > 0 ? "" : "Takedowns", `${of(held)}stay on hold until ${until}`]);
  if (opened + held === 0) lines.push(["Takedowns", "nothing is on hold"]);
  const revived = meant.reduce((sum, one) => sum + one.revived, 0);
  const left = Math.max(0, Math.round(excessOf(meant)) - revived);
  if (verdict === "checker")
    lines.push(["Reopen", `${formatCount(revived)} found alive, ${formatCount(left)} to look at`]);
  return lines;
}

function renderRelease(meant: readonly MemberFacts[], { gatesOpened, gatesHeld }: IncidentActResult): Html {
  const lines: Line[] = [["Takedowns", `of ${countOf(gatesOpened.length, "organization")} allowed at once`]];
  if (gatesHeld.length > 0)
    lines.push(["", `of ${countOf(gatesHeld.length, "organization")} stay on hold: another alert holds them`]);
  const typed = html`<label class="field"
    >Type ${formatCount(meant.length)} to release so many<input
      type="text"
      name="typed"
      inputmode="numeric"
      autocomplete="off"
      required
      pattern="${meant.length}"
  /></label>`;
  return html`<p>
      <b>${countOf(Math.round(excessOf(meant)), "death")} more than usual may be acted on at once</b
      >${meant.length > 1 ? `, of ${namesOf(meant)}` : ""}.
    </p>
    ${renderThen(lines)}${meant.length < 2 ? nothing : typed}`;
}

/** The verdict that is chosen at first: only what the evidence speaks for. */
function proposedVerdict({ headline, summary: { likelyCause } }: ReadIncident): JudgementVerdict | null {
  if (Object.values(headline.judged).some((count) => count > 0)) return null;
  return likelyCause === "checker" ? "checker" : likelyCause === "assets" ? "real" : null;
}

const reasonWords: Readonly<Record<SkipReason, string>> = {
  ended: "ended before",
  already: "already",
  not_judged_kind: "of a kind that nobody judges",
  not_held: "not on hold",
  judged_apart: "judged apart before",
};

/** "117 judged, 3 judged apart before." */
function doneSentence(act: DialogAct, { done, skipped }: IncidentActResult): string {
  if (act === "comment") return "The comment is kept.";
  const left = [...Map.groupBy(skipped, ({ reason }) => reason)].map(
    ([reason, some]) =>
      `${formatCount(some.length)} ${reasonWords[reason]}${reason === "already" ? ` ${words[act].done}` : ""}`,
  );
  const did = done.length === 0 && left.length > 0 ? [] : [`${formatCount(done.length)} ${words[act].done}`];
  return `${[...did, ...left].join(", ")}.`;
}
