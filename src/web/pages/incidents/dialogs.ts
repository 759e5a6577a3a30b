import type { IncidentAct, IncidentActResult } from "../../../alerting/acts/plan-act.ts";
import { formatCount } from "../../../base/numbers.ts";
import type { JudgementVerdict } from "../../../contract/judgement.ts";
import { countOf, shareText, timeText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { ReadIncident } from "../../read/incidents.ts";
import { asksAgainAt, renderDialog, renderThen } from "../dialog.ts";
import { excessOf, memberFactsOf, sharesCause, type MemberFacts } from "./member-facts.ts";

/** The acts on an incident that have a dialog. */
export const dialogActs = ["acknowledge", "unacknowledge", "judge", "release", "silence", "comment"] as const;
export type DialogAct = (typeof dialogActs)[number];

/** What a dialog is of: the incident, whom of it the reader means, and what has been filled in. */
export interface DialogFacts {
  readonly facts: ReadIncident;
  readonly act: DialogAct;
  /** The members that are meant now. */
  readonly meant: readonly MemberFacts[];
  /** Ticked one by one; null: the whole incident, or its groups. */
  readonly slugs: readonly string[] | null;
  /** Whether the groups that can be left out are in. */
  readonly groups: { readonly odd: boolean; readonly judged: boolean };
  /** What each verdict, or the act, would do. */
  readonly foreseen: Readonly<Partial<Record<JudgementVerdict | "act", IncidentActResult>>>;
  readonly filled: Filled;
  /** Why it was not done; empty: it was not tried. */
  readonly problem: string;
  /** Who does it, as others read it. */
  readonly author: string;
}

export interface Filled {
  readonly comment: string;
  readonly verdict: JudgementVerdict | null;
  readonly duration: string;
}

interface Words {
  readonly title: (count: number) => string;
  /** The title where there is nothing to do it for. */
  readonly none: string;
  readonly verb: (count: number, filled: Filled) => string;
  readonly foot: string;
  readonly comment: { readonly label: string; readonly isNeeded: boolean };
}

const many = (verb: string, count: number): string => (count === 1 ? verb : `${verb} ${formatCount(count)}`);

const words: Readonly<Record<DialogAct, Words>> = {
  acknowledge: {
    title: (count) => (count === 1 ? "Take this alert?" : `Take these ${formatCount(count)} alerts?`),
    none: "Nothing of it fires any more.",
    verb: (count) => many("Acknowledge", count),
    foot: "It ends with the alert, or when it gets worse.",
    comment: { label: "What are you doing about it? (optional, shown to the others)", isNeeded: false },
  },
  unacknowledge: {
    title: (count) => (count === 1 ? "Give this alert back?" : `Give these ${formatCount(count)} alerts back?`),
    none: "Nothing of it fires any more.",
    verb: () => "Take it back",
    foot: "Reminders go on.",
    comment: { label: "", isNeeded: false },
  },
  judge: {
    title: (count) => (count === 1 ? "What was it?" : `What were these ${formatCount(count)} alerts?`),
    none: "Choose which alerts to judge.",
    verb: (count, { verdict }) => `${many("Judge", count)}${verdict === null ? "" : ` as ${verdict}`}`,
    foot: "Can be changed later.",
    comment: { label: "How do you know? (optional, kept with each judgement)", isNeeded: false },
  },
  release: {
    title: (count) =>
      count === 1 ? "Release its deaths?" : `Release the deaths of ${formatCount(count)} organizations?`,
    none: "Nothing of it is on hold.",
    verb: (count) => many("Release", count),
    foot: "What pipelines then do, flatline cannot undo.",
    comment: { label: "Why may they be acted on? (kept with your name)", isNeeded: true },
  },
  silence: {
    title: (count) => (count === 1 ? "Silence it?" : `Silence these ${formatCount(count)} organizations?`),
    none: "Nothing of it fires any more.",
    verb: (count) => many("Silence", count),
    foot: "Can be ended at any time.",
    comment: { label: "Why? (kept with your name)", isNeeded: true },
  },
  comment: {
    title: () => "Comment on it?",
    none: "",
    verb: () => "Comment",
    foot: "It stays with the incident and cannot be changed.",
    comment: { label: "What do you know?", isNeeded: true },
  },
};

const durations = ["1h", "4h", "1d", "7d"] as const;

/** The choice of how long a silence lasts. */
function renderDurations(chosen: string): Html {
  return html`<fieldset class="who">
    <legend>For how long</legend>
    <p class="row">
      ${durations.map((one) => html`<label><input type="radio" name="duration" value="${one}" ${one === chosen ? html` checked` : nothing} />${one}</label> `)}
    </p>
  </fieldset>`;
}

/** Renders the dialog of an act; without scripts it is the whole page. */
export function renderActDialog(dialog: DialogFacts): Html {
  const { facts, act, meant, filled, problem, author } = dialog;
  const { title, none, verb, foot, comment } = words[act];
  const action = `/incidents/${facts.incident.number}/${act}`;
  const count = act === "release" ? meant.filter(({ heldSinceMs }) => heldSinceMs !== null).length : meant.length;
  const isPossible = count > 0 || act === "comment";
  const back = `/incidents/${facts.incident.number}`;
  if (!isPossible && act !== "judge")
    return renderDialog({ action: null, title: none, content: renderEvidence(dialog), foot: "", back });
  const content = html`${renderEvidence(dialog)}${renderWhom(dialog, action)}${renderChoices(dialog)}${
    comment.label === ""
      ? nothing
      : html`<label class="field"
          >${comment.label}<input
            type="text"
            name="comment"
            maxlength="2000"
            value="${filled.comment}"
            ${comment.isNeeded ? html`required` : nothing}
        /></label>`
  }`;
  return renderDialog({
    action,
    title: isPossible ? title(count) : none,
    content,
    problem,
    foot: `As ${author}. ${foot}`,
    ...(isPossible ? { verb: verb(count, filled) } : {}),
    back,
  });
}

function renderEvidence({ facts, act, meant }: DialogFacts): Html {
  const { incident, nowMs } = facts;
  const ended = meant.filter(({ member }) => member.end !== null).length;
  const firing = meant.length - ended;
  const span =
    incident.endedAtMs === null
      ? `since ${timeText(incident.startedAtMs, nowMs)}`
      : `${timeText(incident.startedAtMs, nowMs)} to ${timeText(incident.endedAtMs, nowMs)}`;
  const states =
    firing === 0 || ended === 0
      ? ""
      : ` ${countOf(firing, "alert")} still ${firing === 1 ? "fires" : "fire"}, ${formatCount(ended)} have ended.`;
  const revived = meant.reduce((sum, one) => sum + one.revived, 0);
  const known = meant.reduce((sum, { member }) => sum + (member.alert.found?.revived?.judged ?? 0), 0);
  const share =
    act === "judge" && known > 0
      ? html` <b>${shareText(revived / known)}</b> of its deaths were found alive since.`
      : nothing;
  return html`<p>Incident ${incident.number}, ${span}.${states}${share}</p>`;
}

/** Whom it is of, as boxes that add up. */
function renderWhom({ facts, act, meant, slugs, groups }: DialogFacts, action: string): Html {
  if (slugs !== null)
    return html`<p>${namesOf(meant)}</p>
      ${slugs.map((slug) => html`<input type="hidden" name="slug" value="${slug}" />`)}`;
  if (act !== "judge") return nothing;
  const all = memberFactsOf(facts).filter(({ member }) => member.alert.kind === "verdict");
  const odd = all.filter((one) => !sharesCause(one));
  if (all.length > 1 && all.every(isJudged))
    return html`<p><b>${formatCount(all.length)}</b> judged before: they are judged again</p>`;
  const judged = all.filter((one) => sharesCause(one) && isJudged(one));
  if (odd.length === 0 && judged.length === 0) return nothing;
  const [carrier] = facts.summary.carriers;
  const box = (name: string, isIn: boolean, text: Html): Html =>
    html`<label
      ><input
        type="checkbox"
        name="${name}"
        value="yes"
        ${asksAgainAt(action)}${isIn ? html` checked` : nothing}
      /><span>${text}</span></label
    >`;
  const sharing = all.length - odd.length - judged.length;
  return html`<fieldset class="who">
    <legend class="sr">Which of them</legend>
    ${sharing === 0 ? nothing : html`<p><b>${formatCount(sharing)}</b>${carrier === undefined ? " that nobody has judged" : html` that share the cause, <span class="nowrap">${carrier.key}=${carrier.value}</span>`}</p>`}
    ${odd.length === 0 ? nothing : box("odd", groups.odd, html`<b>${formatCount(odd.length)}</b> that do not: ${namesOf(odd)}`)}
    ${judged.length === 0 ? nothing : box("judged", groups.judged, html`<b>${formatCount(judged.length)}</b> judged before: judge them again`)}
  </fieldset>`;
}

/** Whether somebody has judged its alert. */
export function isJudged({ member }: MemberFacts): boolean {
  return member.alert.judgement !== undefined;
}

const shownNames = 5;

function namesOf(some: readonly MemberFacts[]): string {
  const names = some.slice(0, shownNames).map(({ slug }) => slug);
  const more = some.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
}

const verdictChoices: readonly (readonly [JudgementVerdict, string, string])[] = [
  ["checker", "The checker was wrong", "These assets are alive."],
  ["real", "The assets did die", "Attackers left, or somebody took them down."],
  ["expected", "It was expected", "Known beforehand: a clean-up, an expiry, a move."],
];

function renderChoices(dialog: DialogFacts): Html {
  const { act, foreseen, meant, filled, facts } = dialog;
  if (act === "judge")
    return html`<fieldset>
      <legend class="sr">What it was</legend>
      ${verdictChoices.map(
        ([verdict, name, meaning]) =>
          html`<label class="choice"
            ><input
              type="radio"
              name="verdict"
              value="${verdict}"
              required${filled.verdict === verdict ? html` checked` : nothing}
            /><span><b>${name}</b><span class="under">${meaning}</span></span
            >${renderThen(judgeLines(verdict, dialog, foreseen[verdict]))}</label
          >`,
      )}
    </fieldset>`;
  if (act === "release") return renderRelease(dialog, foreseen.act);
  if (act === "silence")
    return html`${renderDurations(filled.duration)}
    ${renderThen([["Messages", "stop; checks run on, and what is on hold stays on hold"]])}`;
  if (act === "acknowledge") return renderThen(acknowledgeLines(facts, meant, foreseen.act));
  return nothing;
}

type Line = readonly [name: string, text: string];

function lineIf(isSo: boolean, name: string, text: string): Line[] {
  return isSo ? [[name, text]] : [];
}

/** How many alerts an act would leave out for a reason. */
function countSkipped(foreseen: IncidentActResult | undefined, why: string): number {
  return foreseen?.skipped.filter(({ reason }) => reason === why).length ?? 0;
}

/** What a verdict does, computed for each organization that is meant and added up. */
function judgeLines(
  verdict: JudgementVerdict,
  { meant }: DialogFacts,
  foreseen: IncidentActResult | undefined,
): Line[] {
  const gateName = "Takedowns";
  const isChecker = verdict === "checker";
  const opened = foreseen?.gatesOpened.length ?? 0;
  const held = foreseen?.gatesHeld.length ?? 0;
  const revived = meant.reduce((sum, one) => sum + one.revived, 0);
  const left = Math.max(0, Math.round(excessOf(meant)) - revived);
  const ends = isChecker ? `${held === 1 ? "its alert ends" : "their alerts end"}, or ` : "";
  const until = `${ends}somebody releases ${held === 1 ? "it" : "them"}`;
  return [
    ...lineIf(
      opened > 0,
      gateName,
      meant.length === 1 ? "allowed at once" : `of ${countOf(opened, "organization")} allowed at once`,
    ),
    ...lineIf(held > 0, opened > 0 ? "" : gateName, `${stay(held, meant)} until ${until}`),
    ...lineIf(opened + held === 0, gateName, "nothing is on hold"),
    ...lineIf(isChecker, "Reopen", `${formatCount(revived)} found alive, ${formatCount(left)} to look at`),
    ["Messages", "one to each receiver that is told of acts"],
  ];
}

function stay(held: number, meant: readonly MemberFacts[]): string {
  return meant.length === 1 ? "stay on hold" : `of ${countOf(held, "organization")} stay on hold`;
}

function acknowledgeLines(
  { escalation, nowMs }: ReadIncident,
  meant: readonly MemberFacts[],
  foreseen: IncidentActResult | undefined,
): Line[] {
  const already = countSkipped(foreseen, "already");
  const called = escalation === null ? "" : `${escalation.receiver}, due at ${timeText(escalation.atMs, nowMs)}`;
  return [
    ["Reminders", "stop, until it gets worse"],
    ...lineIf(escalation !== null, "Not called", called),
    ...lineIf(already > 0, "Taken before", `${formatCount(already)} of ${formatCount(meant.length)}`),
  ];
}

function renderRelease({ meant }: DialogFacts, foreseen: IncidentActResult | undefined): Html {
  const held = meant.filter(({ heldSinceMs }) => heldSinceMs !== null);
  const opened = foreseen?.gatesOpened.length ?? 0;
  const kept = foreseen?.gatesHeld.length ?? 0;
  const deaths = Math.round(excessOf(held));
  return html`<p>
      <b>${countOf(deaths, "death")} more than expected may be acted on at once</b
      >${held.length > 1 ? `, of ${namesOf(held)}` : ""}.
    </p>
    ${renderThen([
      ["Takedowns", `of ${countOf(opened, "organization")} allowed at once`],
      ...lineIf(kept > 0, "", `of ${countOf(kept, "organization")} stay on hold: another alert holds them`),
    ])}
    ${
      held.length < 2
        ? nothing
        : html`<label class="field"
            >Type ${formatCount(held.length)} to release so many<input
              type="text"
              name="typed"
              inputmode="numeric"
              autocomplete="off"
              required
              pattern="${held.length}"
          /></label>`
    }`;
}

/** Returns the verdict that is chosen at first: only what the evidence speaks for. */
export function proposedVerdict(facts: ReadIncident): JudgementVerdict | null {
  if (Object.values(facts.headline.judged).some((count) => count > 0)) return null;
  const { likelyCause } = facts.summary;
  return likelyCause === "checker" ? "checker" : likelyCause === "assets" ? "real" : null;
}

const doneWords: Readonly<Record<DialogAct, string>> = {
  acknowledge: "acknowledged",
  unacknowledge: "given back",
  judge: "judged",
  release: "released",
  silence: "silenced",
  comment: "commented on",
};

const reasonWords: Readonly<Record<string, string>> = {
  ended: "have ended",
  already: "were so already",
  not_judged_kind: "are of a kind that nobody judges",
  not_held: "held no takedowns",
  judged_apart: "were judged apart",
};

/** "117 judged, 3 were not." */
export function doneSentence(act: DialogAct, { done, skipped }: IncidentActResult): string {
  const before = skipped.filter(({ reason }) => reason === "already").length;
  if (done.length === 0 && before > 0 && before === skipped.length)
    return `${formatCount(before)} ${before === 1 ? "was" : "were"} ${doneWords[act]} already.`;
  const left = skipped.filter(({ reason }) => reason !== "already" && reason !== "ended").length;
  const rest = left === 0 ? "" : `, ${formatCount(left)} ${left === 1 ? "was" : "were"} not`;
  return act === "comment" ? "The comment is kept." : `${formatCount(done.length)} ${doneWords[act]}${rest}.`;
}

/** Renders what an act could not be done for, and why; nothing of it is rolled back. */
export function renderOutcome(number: number, act: DialogAct, result: IncidentActResult): Html {
  const byReason = [...Map.groupBy(result.skipped, ({ reason }) => reason)];
  const gates = result.gatesOpened.length;
  const content = html`<p>
    ${gates === 0 ? nothing : html`Takedowns of ${countOf(gates, "organization")} are allowed again. `}${byReason.map(
      ([reason, some]) =>
        html`${formatCount(some.length)} ${reasonWords[reason] ?? reason}:
        ${some.slice(0, shownNames).map(({ slug }, index) => html`${index === 0 ? "" : ", "}<a href="/o/${encodeURIComponent(slug)}">${slug}</a>`)}${some.length > shownNames ? ` and ${formatCount(some.length - shownNames)} more` : ""}. `,
    )}
  </p>`;
  return renderDialog({
    action: null,
    title: doneSentence(act, result),
    content,
    foot: "Nothing is rolled back. Doing it again does only the rest.",
    back: `/incidents/${number}`,
  });
}

/** Returns the act as it is done. */
export function actOf(act: DialogAct, { comment, verdict }: Filled, endsAtMs: number): IncidentAct | null {
  const text = comment === "" ? null : comment;
  switch (act) {
    case "acknowledge":
      return { kind: "acknowledge", comment: text };
    case "unacknowledge":
      return { kind: "unacknowledge" };
    case "judge":
      return verdict === null ? null : { kind: "judge", verdict, comment: text };
    case "release":
      return { kind: "release", comment };
    case "silence":
      return { kind: "silence", endsAtMs, comment };
    case "comment":
      return { kind: "comment", comment };
    default:
      return act satisfies never;
  }
}
