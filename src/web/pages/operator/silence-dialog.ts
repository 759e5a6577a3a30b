import { firstCharacters } from "../../../base/cut-text.ts";
import { formatCount } from "../../../base/numbers.ts";
import { nearestName } from "../../../base/suggestions.ts";
import { literalOf } from "../../../base/text-pattern.ts";
import { hourMs, minuteMs } from "../../../base/time.ts";
import type { CheckName } from "../../../contract/report.ts";
import { countOf, timeText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { PageSilence } from "../../read/page.ts";
import { renderDialog, renderThen } from "../dialog.ts";
import { path } from "./silences.ts";

/** What a form says of a silence. */
export interface SilenceForm {
  /** The pattern of organizations. */
  readonly slug: string;
  /** null: all checks. */
  readonly check: string | null;
  /** Hours as text, or `until`. */
  readonly hours: string;
  /** The value of a `datetime-local` field, in UTC. */
  readonly until: string;
  readonly comment: string;
  /** Also where nobody has this name. */
  readonly isAnyway: boolean;
}

/** What the pattern would hold back now. */
export interface HeldBack {
  readonly organizations: readonly string[];
  readonly firing: number;
}

const lengths = ["1", "4", "24", "until"] as const;
const longestComment = 1_000;
const shownNames = 5;

/** Reads it from the fields of a form or a link; `checks` are the names that there are. */
export function readSilenceForm(form: URLSearchParams, checks: readonly CheckName[]): SilenceForm {
  const hours = form.get("hours") ?? "4";
  return {
    slug: (form.get("slug") ?? "").trim(),
    check: checks.find((name) => name === form.get("check")) ?? null,
    hours: lengths.find((one) => one === hours) ?? "4",
    until: form.get("until") ?? "",
    comment: firstCharacters((form.get("comment") ?? "").trim(), longestComment),
    isAnyway: form.has("anyway"),
  };
}

/** Returns when it ends, counted from `fromMs`; null: nobody said a time. */
export function endOf({ hours, until }: Pick<SilenceForm, "hours" | "until">, fromMs: number): number | null {
  if (hours !== "until") return fromMs + Number(hours) * hourMs;
  const atMs = Date.parse(`${until}Z`);
  return Number.isNaN(atMs) ? null : atMs;
}

/** Returns why it cannot be made, or null; `known` are the names of organizations. */
export function problemOf(form: SilenceForm, known: readonly string[], nowMs: number): string | null {
  if (form.slug === "") return "Name an organization, or a pattern with *.";
  const only = literalOf(form.slug);
  if (isUnknown(form, known) && !form.isAnyway) {
    const nearest = nearestName(only ?? "", known);
    return `No organization is called ${only}.${nearest === null ? "" : ` Did you mean ${nearest}?`}`;
  }
  return problemOfEnd(form, nowMs, nowMs);
}

/** Returns why a silence cannot end so, or null. */
export function problemOfEnd(form: SilenceForm, fromMs: number, nowMs: number): string | null {
  const endsAtMs = endOf(form, fromMs);
  if (endsAtMs === null || endsAtMs <= nowMs) return "Choose a time that is to come.";
  return form.comment === "" ? "Write why: whoever is on call reads it." : null;
}

function isUnknown({ slug }: SilenceForm, known: readonly string[]): boolean {
  const only = literalOf(slug);
  return slug !== "" && only !== null && !known.includes(only);
}

/** The dialog of a new silence. */
export interface NewSilenceDialog {
  readonly form: SilenceForm;
  readonly held: HeldBack;
  readonly known: readonly string[];
  readonly checks: readonly CheckName[];
  readonly problem: string;
  readonly author: string;
  readonly nowMs: number;
}

/** Renders the dialog that makes a silence, with what it would hold back. */
export function renderNewSilence({ form, held, known, checks, problem, author, nowMs }: NewSilenceDialog): Html {
  const { slug, check, hours, comment, isAnyway } = form;
  const action = `${path}/new`;
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
    ${
      isUnknown(form, known)
        ? html`<p>
            <label class="row"
              ><input type="checkbox" name="anyway" value="yes" ${isAnyway ? html` checked` : nothing} />Silence it all
              the same</label
            >
          </p>`
        : nothing
    }
    ${renderLength("For how long", form, nowMs, nowMs)}
    <label class="field"
      >Which checks<select name="check">
        <option value="">All checks</option>
        ${checks.map((name) => html`<option ${name === check ? html` selected` : nothing}>${name}</option>`)}
      </select></label
    >
    ${renderWhy(comment)} ${slug === "" ? nothing : renderThen([["Holds back", heldWords(held)]])}`;
  const verb = hours === "until" ? "Silence" : `Silence for ${hours} h`;
  const foot = `As ${author}. Can be ended at any time.`;
  return renderDialog({
    action,
    title: "Silence which organization?",
    content,
    problem,
    foot,
    verb,
    back: path,
    asksAgain: true,
  });
}

function heldWords({ organizations, firing }: HeldBack): string {
  if (organizations.length === 0) return "the messages of no organization that is configured now";
  const names = organizations.slice(0, shownNames).join(", ");
  const more = organizations.length - shownNames;
  const fires = firing === 0 ? "nothing fires" : `${countOf(firing, "alert")} ${firing === 1 ? "fires" : "fire"}`;
  return `the messages of ${names}${more > 0 ? ` and ${formatCount(more)} more` : ""}; ${fires} there now`;
}

/** The dialog that changes a silence. */
export interface SilenceChangeDialog {
  readonly silence: PageSilence;
  readonly form: SilenceForm;
  readonly problem: string;
  readonly author: string;
  readonly nowMs: number;
}

/** Renders the dialog that moves the end of a silence. */
export function renderSilenceChange({ silence, form, problem, author, nowMs }: SilenceChangeDialog): Html {
  const { id, rule, endsAtMs } = silence;
  const pattern = rule.slug ?? "*";
  const name = literalOf(pattern) ?? pattern;
  return renderDialog({
    action: `${path}/${encodeURIComponent(id ?? "")}/change`,
    title: `Extend the silence of ${name}?`,
    content: html`<p>It ends ${timeText(endsAtMs, nowMs)}. Messages stay held back until then.</p>
      ${renderLength("How much longer", form, endsAtMs, nowMs)} ${renderWhy(form.comment)}`,
    problem,
    foot: `As ${author}. Can be ended at any time.`,
    verb: form.hours === "until" ? "Change" : `Extend by ${form.hours} h`,
    back: path,
    asksAgain: true,
  });
}

function renderLength(legend: string, { hours, until }: SilenceForm, fromMs: number, nowMs: number): Html {
  const choice = (one: (typeof lengths)[number]): Html => {
    const ends = one === "until" ? null : timeText(endOf({ hours: one, until }, fromMs) ?? 0, nowMs);
    return html`<label class="row"
      ><input
        type="radio"
        name="hours"
        value="${one}"
        ${one === hours ? html` checked` : nothing}
      />${one === "until" ? "until, in UTC" : html`${one} h <span class="quiet">${ends}</span>`}</label
    > `;
  };
  const least = new Date(nowMs + minuteMs).toISOString().slice(0, 16);
  return html`<fieldset class="lengths">
    <legend>${legend}</legend>
    <p class="row">
      ${lengths.map(choice)}<input
        type="datetime-local"
        name="until"
        aria-label="Until, in UTC"
        min="${least}"
        value="${until}"
      />
    </p>
  </fieldset>`;
}

function renderWhy(comment: string): Html {
  return html`<label class="field"
    >Why? <span class="needed">needed</span
    ><input type="text" name="comment" required maxlength="${2 * longestComment}" value="${comment}"
  /></label>`;
}
