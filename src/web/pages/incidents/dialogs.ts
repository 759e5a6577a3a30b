import type { FastifyInstance } from "fastify";

import type { IncidentAct, IncidentActResult, SkipReason } from "../../../alerting/acts/plan-act.ts";
import { FlatlineError } from "../../../base/errors.ts";
import { formatCount } from "../../../base/numbers.ts";
import { judgementVerdicts, type JudgementVerdict } from "../../../contract/judgement.ts";
import { countOf, timeText } from "../../../words/numbers.ts";
import { authorOf, readerOf } from "../../access/admission.ts";
import { askedActs, rightOf } from "../../acts.ts";
import { readInput } from "../../input.ts";
import type { WebParts } from "../../parts.ts";
import { html, nothing, type Html } from "../html.ts";
import type { IncidentDetail, ReadIncident } from "../../read/incidents.ts";
import { endOf, renderDialog, renderField, renderLengths, renderRadio, renderThen } from "../dialog.ts";
import { isMistake, missingIncident, sentenceOf, type PageAsked } from "../site.ts";
import { incidentTitle } from "./incident.ts";
import { excessOf, memberFactsOf, sharesCause, type MemberFacts } from "./member-facts.ts";

/** The acts of an incident's page. */
export type DialogAct = Exclude<IncidentAct["kind"], "withdraw"> | "look";

interface Words {
  /** `#` stands for the organizations of the act. */
  readonly title: string;
  readonly verb: string;
  readonly done: string;
  readonly foot: string;
  /** Absent: it takes no comment. */
  readonly comment?: readonly [label: string, isNeeded: boolean];
}

const words: Readonly<Record<DialogAct, Words>> = {
  acknowledge: {
    title: "Acknowledge #?",
    verb: "Acknowledge",
    done: "acknowledged",
    foot: "It ends with the alert, or when it gets worse.",
    comment: ["What are you doing about it? (optional, shown to the others)", false],
  },
  unacknowledge: {
    title: "Take back the acknowledgement of #?",
    verb: "Take back",
    done: "taken back",
    foot: "Reminders go on.",
  },
  judge: {
    title: "What was it, in #?",
    verb: "Judge",
    done: "judged",
    foot: "Can be changed later.",
    comment: ["How do you know? (optional, kept with each judgement)", false],
  },
  release: {
    title: "Release the deaths of #?",
    verb: "Release",
    done: "released",
    foot: "What pipelines then do, flatline cannot undo.",
    comment: ["Why may they be acted on? (kept with your name)", true],
  },
  silence: {
    title: "Silence #?",
    verb: "Silence",
    done: "silenced",
    foot: "Can be ended at any time.",
    comment: ["Why? (kept with your name)", true],
  },
  comment: {
    title: "Comment on it?",
    verb: "Comment",
    done: "commented on",
    foot: "It stays with the incident and cannot be changed.",
    comment: ["What do you know?", true],
  },
  look: {
    title: "Ask the verifier about its dead assets?",
    verb: "Look",
    done: "looked at",
    foot: "The verifier looks at these pages; their owners may see it.",
  },
};

type VerdictChoices = Readonly<Record<JudgementVerdict, readonly [name: string, meaning: string]>>;

const verdictChoices: VerdictChoices = {
  checker: ["The checker was wrong", "These assets are alive."],
  real: ["The assets did die", "Attackers left, or somebody took them down."],
  expected: ["It was expected", "Known beforehand: a clean-up, an expiry, a move."],
};

const flowChoices: VerdictChoices = {
  checker: ["The checker was wrong", "It did not look, or its events did not come."],
  real: ["The deaths are real", "Nothing was missed: what is called dead did die."],
  expected: ["It was expected", "Known beforehand: a planned pause, or a source that sends seldom."],
};

/** Returns the name and the meaning of each verdict on an incident of this family. */
export function verdictChoicesOf(family: string): VerdictChoices {
  return family === "no-events" ? flowChoices : verdictChoices;
}

const shownNames = 5;
const lookWords = html`<p>
  The verifier is asked about some of them, drawn anew, and beside them about assets of which the answer is known.
</p>`;

// A form may name each member of a large incident.
const mostFormBytes = 1_024 * 1_024;

/** Adds `/incidents/N/ACT`: the dialog of each act and its form. */
export function addActDialogs(
  server: FastifyInstance,
  { site, incidents }: WebParts,
  find: (id: string, withDetails: boolean) => Promise<IncidentDetail | null>,
): void {
  const requestOf = (page: IncidentDetail, { request, search }: PageAsked) => {
    const slugs = search.getAll("slug");
    return { incident: page.incident.number, author: authorOf(request), slugs: slugs.length === 0 ? null : slugs };
  };

  /** Renders the act's question with its consequences, or why it changes nothing. */
  async function render(act: DialogAct, page: IncidentDetail, asked: PageAsked, problem: string): Promise<Html> {
    const { title, verb, foot, comment } = words[act];
    const back = `/incidents/${page.incident.number}`;
    const form = { action: `${back}/${act}`, problem, foot: `As ${readerOf(asked.request) ?? ""}. ${foot}`, back };
    if (act === "look") return renderDialog({ ...form, title, content: lookWords, verb });
    const renderNothing = (why = ""): Html =>
      renderDialog({ action: null, title: problem || why, content: html`<p>${timeWords(page)}.</p>`, foot: "", back });
    let results: readonly IncidentActResult[];
    try {
      results = previewsOf(act, page.nowMs).map(await incidents.foresee(requestOf(page, asked)));
    } catch (error) {
      // The act is not possible.
      if (!isMistake(error)) throw error;
      return renderNothing(sentenceOf(error.message));
    }
    // A member that has one verdict can still get another.
    const ids = new Set(results.flatMap(({ done }) => done.map(({ alertId }) => alertId)));
    const meant = memberFactsOf(page).filter(({ member }) => ids.has(member.id));
    const [first] = meant;
    if (first === undefined) return renderNothing(results.map((one) => whyNothing(act, one))[0]);
    const isMany = meant.length > 1;
    const who = isMany ? countOf(meant.length, "organization") : first.slug;
    const isCounted = isMany && act !== "comment" && act !== "unacknowledge";
    const { search } = asked;
    const attributes = html`maxlength="2000" ${comment?.[1] === true ? html`required` : nothing}`;
    return renderDialog({
      ...form,
      title: title.replace("#", () => who),
      content: html`<p>${timeWords(page)}: ${namesOf(meant)}.${act === "judge" ? apartWords(meant) : ""}</p>
        ${search.getAll("slug").map((slug) => html`<input type="hidden" name="slug" value="${slug}" />`)}
        ${renderChoices(act, page, search, meant, results)}
        ${comment === undefined ? nothing : renderField(comment[0], "comment", search.get("comment"), attributes)}`,
      verb: isCounted ? `${verb} ${formatCount(meant.length)}` : verb,
    });
  }

  async function perform(act: DialogAct, page: IncidentDetail, asked: PageAsked): Promise<string> {
    const { request, search } = asked;
    if (act === "look") {
      await incidents.look(page.incident, authorOf(request));
      return "The verifier is asked.";
    }
    const { act: what } = readInput(askedActs[act], bodyOf(act, search, page.nowMs))(page.nowMs);
    const meant = requestOf(page, asked);
    if (act === "release") requireTyped(search, (await incidents.foresee(meant))(what));
    return doneSentence(act, await incidents.act({ ...meant, act: what }));
  }

  for (const act of Object.keys(words) as DialogAct[])
    site.addAct(server, `/incidents/:id/${act}`, act === "look" ? "operate" : rightOf(act), {
      mostBytes: mostFormBytes,
      ask: async (asked, problem) => {
        const page = await find(asked.params.id, asked.withDetails);
        if (page === null) return missingIncident(asked.params.id);
        const main = await render(act, page, asked, problem);
        return { isDialog: true, title: incidentTitle(page), current: "incidents", main };
      },
      perform: async (asked) => {
        const page = await find(asked.params.id, asked.withDetails);
        if (page === null) return missingIncident(asked.params.id);
        return { did: await perform(act, page, asked), path: `/incidents/${page.incident.number}` };
      },
    });
}

/** Returns the form as a body of the API, without its organizations. */
function bodyOf(act: IncidentDialogAct, form: URLSearchParams, nowMs: number): unknown {
  const { slug: _slug, typed: _typed, length: _length, until: _until, ...said } = Object.fromEntries(form);
  return act === "silence" ? { ...said, endsAt: endOf(form, nowMs) } : said;
}

function requireTyped(form: URLSearchParams, { done }: IncidentActResult): void {
  if (done.length > 1 && form.get("typed")?.trim() !== String(done.length))
    throw new FlatlineError("invalid_data", `type ${done.length} to release so many`);
}

type IncidentDialogAct = Exclude<DialogAct, "look">;

function whyNothing(act: IncidentDialogAct, result: IncidentActResult): string {
  if (act === "release") return "Nothing of it is on hold.";
  return result.skipped.some(({ reason }) => reason === "already") ? doneSentence(act, result) : "Nothing of it fires.";
}

/** Returns the act before the form is filled in; a judgement once with each verdict. */
function previewsOf(kind: IncidentDialogAct, nowMs: number): readonly IncidentAct[] {
  const comment = "";
  if (kind === "judge") return judgementVerdicts.map((verdict) => ({ kind, verdict, comment }));
  if (kind === "silence") return [{ kind, endsAtMs: nowMs + 1, comment }];
  return [kind === "unacknowledge" ? { kind } : { kind, comment }];
}

function timeWords({ incident, nowMs }: ReadIncident): string {
  const began = timeText(incident.startedAtMs, nowMs);
  const span = incident.endedAtMs === null ? `since ${began}` : `${began} to ${timeText(incident.endedAtMs, nowMs)}`;
  return `Incident ${incident.number}, ${span}`;
}

/** Names the members that do not share the common cause. */
function apartWords(judged: readonly MemberFacts[]): string {
  const odd = judged.filter((one) => !sharesCause(one));
  if (odd.length === 0 || odd.length === judged.length) return "";
  const verb = odd.length === 1 ? "does" : "do";
  return ` ${formatCount(odd.length)} of them ${verb} not share what the others do: ${namesOf(odd)}.`;
}

function namesOf(some: readonly MemberFacts[]): string {
  const names = some.slice(0, shownNames).map(({ slug }) => slug);
  const more = some.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
}

type Line = [name: string, text: string];

/** Renders the act's choices and their consequences. */
function renderChoices(
  act: IncidentDialogAct,
  page: IncidentDetail,
  form: URLSearchParams,
  meant: readonly MemberFacts[],
  results: readonly IncidentActResult[],
): Html {
  const { escalation, nowMs } = page;
  switch (act) {
    case "judge": {
      const chosen = form.get("verdict") ?? proposedVerdict(page);
      return html`<fieldset>
        <legend class="sr">What it was</legend>
        ${judgementVerdicts.map((verdict, index) => {
          const [name, meaning] = verdictChoicesOf(page.incident.family)[verdict];
          const text = html`<span><b>${name}</b><span class="under">${meaning}</span></span>`;
          const then = renderThen(judgeLines(verdict, page, meant, results[index]));
          return renderRadio("verdict", verdict, chosen, html`${text}${then}`, "choice");
        })}
      </fieldset>`;
    }
    case "acknowledge": {
      const called = escalation && `${escalation.receiver}, due at ${timeText(escalation.atMs, nowMs)}`;
      return renderThen([
        ["Reminders", "stop, until it gets worse"],
        ...(called === null ? [] : [["Not called", called] as const]),
      ]);
    }
    case "release":
      return renderRelease(meant, results[0]);
    case "silence":
      return html`${renderLengths(form, nowMs)}
      ${renderThen([["Messages", "stop; checks run on, and what is on hold stays on hold"]])}`;
    case "unacknowledge":
    case "comment":
      return nothing;
    default:
      return act satisfies never;
  }
}

/** Says which gates open and which stay on hold; `why` explains the latter. */
function gateLines(result: IncidentActResult | undefined, why: string): Line[] {
  const { gatesOpened = [], gatesHeld = [] } = result ?? {};
  const of = ({ length }: readonly string[]): string => `of ${countOf(length, "organization")}`;
  const lines = [
    ...(gatesOpened.length > 0 ? [`${of(gatesOpened)} allowed at once`] : []),
    ...(gatesHeld.length > 0 ? [`${of(gatesHeld)} stay on hold${why}`] : []),
  ];
  return lines.length === 0
    ? [["Takedowns", "nothing is on hold"]]
    : lines.map((text, index) => [index === 0 ? "Takedowns" : "", text]);
}

/** Says what a verdict does. */
function judgeLines(
  verdict: JudgementVerdict,
  { incident }: IncidentDetail,
  meant: readonly MemberFacts[],
  result?: IncidentActResult,
): Line[] {
  const isChecker = verdict === "checker";
  const lines = gateLines(result, ` until ${isChecker ? "the alert ends, or " : ""}somebody releases them`);
  if (!isChecker || incident.family === "no-events") return lines;
  const revived = meant.reduce((sum, one) => sum + one.revived, 0);
  const left = Math.max(0, Math.round(excessOf(meant)) - revived);
  return [...lines, ["Reopen", `${formatCount(revived)} found alive, ${formatCount(left)} to look at`]];
}

function renderRelease(meant: readonly MemberFacts[], result: IncidentActResult | undefined): Html {
  const digits = html`inputmode="numeric" required pattern="${meant.length}"`;
  const typed = renderField(`Type ${formatCount(meant.length)} to release so many`, "typed", "", digits);
  return html`<p><b>${countOf(Math.round(excessOf(meant)), "death")} more than usual may be acted on at once</b>.</p>
    ${renderThen(gateLines(result, ": another alert holds them"))}${meant.length < 2 ? nothing : typed}`;
}

/** Returns the verdict that the evidence supports; null: none. */
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

/** Returns a sentence such as "117 judged, 3 judged apart before." */
function doneSentence(act: IncidentDialogAct, { done, skipped }: IncidentActResult): string {
  if (act === "comment") return "The comment is kept.";
  const left = [...Map.groupBy(skipped, ({ reason }) => reason)].map(
    ([reason, some]) =>
      `${formatCount(some.length)} ${reasonWords[reason]}${reason === "already" ? ` ${words[act].done}` : ""}`,
  );
  const did = done.length === 0 && left.length > 0 ? [] : [`${formatCount(done.length)} ${words[act].done}`];
  return `${[...did, ...left].join(", ")}.`;
}
