import type { FastifyInstance, FastifyRequest } from "fastify";

import type { IncidentAct, IncidentActResult, SkipReason } from "../../../alerting/acts/plan-act.ts";
import { FlatlineError } from "../../../base/errors.ts";
import { formatCount } from "../../../base/numbers.ts";
import { hourMs } from "../../../base/time.ts";
import { judgementVerdicts, type JudgementVerdict } from "../../../contract/judgement.ts";
import { countOf, shareText, timeText } from "../../../words/numbers.ts";
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
  /** The label of the comment; null: it takes none. */
  readonly comment: string | null;
  readonly needsComment?: true;
}

const words: Readonly<Record<DialogAct, Words>> = {
  acknowledge: {
    title: ["Acknowledge it?", "Acknowledge # organizations?"],
    verb: "Acknowledge",
    done: "acknowledged",
    foot: "It ends with the alert, or when it gets worse.",
    comment: "What are you doing about it? (optional, shown to the others)",
  },
  unacknowledge: {
    title: ["Take the acknowledgement back?", "Take back the acknowledgement of # organizations?"],
    verb: "Take back",
    done: "taken back",
    foot: "Reminders go on.",
    comment: null,
  },
  judge: {
    title: ["What was it?", "What was it, in # organizations?"],
    verb: "Judge",
    done: "judged",
    foot: "Can be changed later.",
    comment: "How do you know? (optional, kept with each judgement)",
  },
  release: {
    title: ["Release its deaths?", "Release the deaths of # organizations?"],
    verb: "Release",
    done: "released",
    foot: "What pipelines then do, flatline cannot undo.",
    comment: "Why may they be acted on? (kept with your name)",
    needsComment: true,
  },
  silence: {
    title: ["Silence it?", "Silence these # organizations?"],
    verb: "Silence",
    done: "silenced",
    foot: "Can be ended at any time.",
    comment: "Why? (kept with your name)",
    needsComment: true,
  },
  comment: {
    title: ["Comment on it?", "Comment on it?"],
    verb: "Comment",
    done: "commented on",
    foot: "It stays with the incident and cannot be changed.",
    comment: "What do you know?",
    needsComment: true,
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
  readonly incidents: Pick<IncidentReading, "act" | "foresee">;
  readonly find: (id: string, withDetails: boolean) => Promise<IncidentDetail | null>;
}

// All members of a large incident, ticked one by one.
const mostFormBytes = 1_024 * 1_024;

/** `/incidents/N/ACT`: the dialog of each act, which without scripts is a page, and its form. */
export function addActDialogs(server: FastifyInstance, { site, incidents, find }: ActDialogs): void {
  async function dialogOf(
    request: FastifyRequest,
    dialog: Pick<Dialog, "act" | "page" | "form" | "problem">,
    status = 200,
  ) {
    const { act, page, form } = dialog;
    const slugs = form.getAll("slug");
    let previews: Dialog["previews"] = new Map();
    let { problem } = dialog;
    try {
      const asked = { incident: page.incident.number, author: authorOf(request) };
      const foresee = await incidents.foresee({ ...asked, slugs: slugs.length === 0 ? null : slugs });
      previews = new Map(
        previewsOf(act, page.nowMs).map((one) => ["verdict" in one ? one.verdict : null, foresee(one)]),
      );
    } catch (error) {
      // It cannot be done at all.
      if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
      if (problem === "") problem = sentenceOf(error.message);
    }
    const main = renderActDialog({ ...dialog, problem, previews, author: readerOf(request) ?? "" });
    return { isDialog: true, status, title: incidentTitle(page), current: "incidents", main } as const;
  }

  for (const act of Object.keys(words) as DialogAct[])
    site.addAct(server, `/incidents/:id/${act}`, rightOf(act), {
      mostBytes: mostFormBytes,
      ask: async ({ request, params: { id }, search, withDetails }) => {
        const page = await find(id, withDetails);
        return page === null ? missingIncident(id) : dialogOf(request, { act, page, form: search, problem: "" });
      },
      perform: async ({ request, params: { id }, form, withDetails }) => {
        const page = await find(id, withDetails);
        if (page === null) return missingIncident(id);
        const { number } = page.incident;
        try {
          const { act: what, slugs } = readInput(askedActs[act], bodyOf(form))(page.nowMs);
          const asked = { incident: number, author: authorOf(request), slugs };
          if (act === "release") requireTyped(form, (await incidents.foresee(asked))(what));
          const result = await incidents.act({ ...asked, act: what });
          return { did: doneSentence(act, result), path: `/incidents/${number}` };
        } catch (error) {
          if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
          const problem = sentenceOf(error.issues.join("; ") || error.message);
          const status = error.code === "invalid_data" ? 422 : error.httpStatus;
          return dialogOf(request, { act, page, form, problem }, status);
        }
      },
    });
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

/** What the dialog says in advance: of a judgement each verdict. */
function previewsOf(kind: DialogAct, nowMs: number): IncidentAct[] {
  const comment = "";
  if (kind === "judge") return judgementVerdicts.map((verdict) => ({ kind, verdict, comment }));
  if (kind === "unacknowledge") return [{ kind }];
  return [kind === "silence" ? { kind, endsAtMs: nowMs + hourMs, comment } : { kind, comment }];
}

interface Dialog {
  readonly page: IncidentDetail;
  readonly act: DialogAct;
  /** What has been filled in. */
  readonly form: URLSearchParams;
  /** What it would do, of a judgement by verdict; empty: it cannot be done. */
  readonly previews: ReadonlyMap<JudgementVerdict | null, IncidentActResult>;
  /** Why it was not done; empty: it was not tried. */
  readonly problem: string;
  readonly author: string;
}

function renderActDialog(dialog: Dialog): Html {
  const { page, act, form, previews, problem, author } = dialog;
  const { title, verb, foot, comment, needsComment } = words[act];
  const { number } = page.incident;
  const back = `/incidents/${number}`;
  const results = [...previews.values()];
  const ids = new Set(results.flatMap(({ done }) => done.map(({ alertId }) => alertId)));
  const meant = memberFactsOf(page).filter(({ member }) => ids.has(member.id));
  const [result] = results;
  const evidence = renderEvidence(page, act, meant);
  if (meant.length === 0) {
    const said = problem === "" && result !== undefined ? whyNothing(act, result) : problem;
    return renderDialog({ action: null, title: said, content: evidence, foot: "", back });
  }
  const ticked = form.getAll("slug");
  const content = html`${evidence}${ticked.length === 0 ? nothing : html`<p>${namesOf(meant)}</p>`}${ticked.map(
    (slug) => html`<input type="hidden" name="slug" value="${slug}" />`,
  )}${renderChoices(dialog, meant)}${
    comment === null
      ? nothing
      : html`<label class="field"
          >${comment}<input
            type="text"
            name="comment"
            maxlength="2000"
            value="${form.get("comment") ?? ""}"
            ${needsComment === true ? html`required` : nothing}
        /></label>`
  }`;
  const count = formatCount(meant.length);
  return renderDialog({
    action: `${back}/${act}`,
    title: title[meant.length === 1 ? 0 : 1].replace("#", count),
    content,
    problem,
    foot: `As ${author}. ${foot}`,
    verb: meant.length === 1 || act === "comment" || act === "unacknowledge" ? verb : `${verb} ${count}`,
    back,
  });
}

function whyNothing(act: DialogAct, result: IncidentActResult): string {
  if (act === "release") return "Nothing of it is on hold.";
  return result.skipped.some(({ reason }) => reason === "already") ? doneSentence(act, result) : "Nothing of it fires.";
}

function renderEvidence({ incident, nowMs }: ReadIncident, act: DialogAct, meant: readonly MemberFacts[]): Html {
  const began = timeText(incident.startedAtMs, nowMs);
  const span = incident.endedAtMs === null ? `since ${began}` : `${began} to ${timeText(incident.endedAtMs, nowMs)}`;
  const revived = meant.reduce((sum, one) => sum + one.revived, 0);
  const known = meant.reduce((sum, { member }) => sum + (member.found?.revived?.judged ?? 0), 0);
  const odd = act === "judge" ? meant.filter((one) => !sharesCause(one)) : [];
  return html`<p>
    Incident ${incident.number},
    ${span}.${act === "judge" && known > 0 ? html` <b>${shareText(revived / known)}</b> of its deaths were found alive since.` : nothing}
    ${odd.length === 0 || odd.length === meant.length ? nothing : html`<b>${formatCount(odd.length)}</b> of them ${odd.length === 1 ? "does" : "do"} not share what the others do: ${namesOf(odd)}.`}
  </p>`;
}

function namesOf(some: readonly MemberFacts[]): string {
  const names = some.slice(0, shownNames).map(({ slug }) => slug);
  const more = some.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
}

/** What is chosen, and what follows from it. */
function renderChoices(dialog: Dialog, meant: readonly MemberFacts[]): Html {
  const { act, page, form, previews } = dialog;
  const result = previews.get(null);
  switch (act) {
    case "judge": {
      const chosen = form.get("verdict") ?? proposedVerdict(page);
      return html`<fieldset>
        <legend class="sr">What it was</legend>
        ${judgementVerdicts.map(
          (verdict) =>
            html`<label class="choice"
              ><input
                type="radio"
                name="verdict"
                value="${verdict}"
                required${chosen === verdict ? html` checked` : nothing}
              /><span><b>${verdictChoices[verdict][0]}</b><span class="under">${verdictChoices[verdict][1]}</span></span
              >${renderThen(judgeLines(verdict, meant, previews.get(verdict)))}</label
            >`,
        )}
      </fieldset>`;
    }
    case "acknowledge": {
      const { escalation, nowMs } = page;
      const called = escalation === null ? "" : `${escalation.receiver}, due at ${timeText(escalation.atMs, nowMs)}`;
      return renderThen([
        ["Reminders", "stop, until it gets worse"],
        ...lineIf(escalation !== null, "Not called", called),
      ]);
    }
    case "release":
      return renderRelease(meant, result);
    case "silence":
      return html`<fieldset class="who">
          <legend>For how long</legend>
          <p class="row">
            ${durations.map((one) => html`<label><input type="radio" name="duration" value="${one}" ${one === (form.get("duration") ?? "4h") ? html` checked` : nothing} />${one}</label> `)}
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

type Line = readonly [name: string, text: string];

function lineIf(isSo: boolean, name: string, text: string): Line[] {
  return isSo ? [[name, text]] : [];
}

/** What a verdict does. */
function judgeLines(
  verdict: JudgementVerdict,
  meant: readonly MemberFacts[],
  result: IncidentActResult | undefined,
): Line[] {
  const opened = result?.gatesOpened.length ?? 0;
  const held = result?.gatesHeld.length ?? 0;
  const isChecker = verdict === "checker";
  const revived = meant.reduce((sum, one) => sum + one.revived, 0);
  const left = Math.max(0, Math.round(excessOf(meant)) - revived);
  const of = (count: number): string => (meant.length === 1 ? "" : `of ${countOf(count, "organization")} `);
  const until = `${isChecker ? "the alert ends, or " : ""}somebody releases them`;
  return [
    ...lineIf(opened > 0, "Takedowns", `${of(opened)}allowed at once`),
    ...lineIf(held > 0, opened > 0 ? "" : "Takedowns", `${of(held)}stay on hold until ${until}`),
    ...lineIf(opened + held === 0, "Takedowns", "nothing is on hold"),
    ...lineIf(isChecker, "Reopen", `${formatCount(revived)} found alive, ${formatCount(left)} to look at`),
  ];
}

function renderRelease(meant: readonly MemberFacts[], result: IncidentActResult | undefined): Html {
  const kept = result?.gatesHeld.length ?? 0;
  return html`<p>
      <b>${countOf(Math.round(excessOf(meant)), "death")} more than usual may be acted on at once</b
      >${meant.length > 1 ? `, of ${namesOf(meant)}` : ""}.
    </p>
    ${renderThen([
      ["Takedowns", `of ${countOf(result?.gatesOpened.length ?? 0, "organization")} allowed at once`],
      ...lineIf(kept > 0, "", `of ${countOf(kept, "organization")} stay on hold: another alert holds them`),
    ])}
    ${
      meant.length < 2
        ? nothing
        : html`<label class="field"
            >Type ${formatCount(meant.length)} to release so many<input
              type="text"
              name="typed"
              inputmode="numeric"
              autocomplete="off"
              required
              pattern="${meant.length}"
          /></label>`
    }`;
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
