import { hourMs, minuteMs } from "../../base/time.ts";
import { timeText } from "../../words/numbers.ts";
import { html, nothing, type Html } from "./html.ts";

/** Shows the answer over the page, as a dialog. */
export const overPage = html`hx-target="#dialog-place" hx-swap="innerHTML"`;

/** Renders a button that opens a dialog: over the page with scripts, otherwise as a page. */
export function dialogButton(href: string, words: Html | string, isFirst = false): Html {
  const kind = isFirst ? "button primary" : "button";
  return html`<a class="${kind}" href="${href}" hx-get="${href}" ${overPage}>${words}</a>`;
}

/** Renders a button that acts at once, with one field; a refusal opens as a dialog. */
export function actForm(action: string, words: Html | string, name = "", value = ""): Html {
  const field = html`<input type="hidden" name="${name}" value="${value}" />`;
  return html`<form method="post" action="${action}" hx-post="${action}" ${overPage}>
    ${name === "" ? nothing : field}<button>${words}</button>
  </form>`;
}

/** The parts of a dialog. */
export interface DialogParts {
  /** The form's address; null: no form. */
  readonly action: string | null;
  readonly title: string;
  readonly content: Html;
  /** Why the act failed; empty: nobody has tried it. */
  readonly problem?: string;
  readonly foot: string;
  readonly verb?: string;
  /** The address of "Cancel" and "Close". */
  readonly back: string;
}

/** Renders a dialog; without scripts it is a whole page. Further clicks do not repeat the act. */
export function renderDialog({ action, title, content, problem = "", foot, verb, back }: DialogParts): Html {
  const inner = html`<h1 id="dialog-title">${title}</h1>
    ${content}${action === null ? nothing : html`<p class="error" role="alert">${problem}</p>`}
    <footer>
      <p>${foot}</p>
      <a class="button" href="${back}" data-close>${action === null ? "Close" : "Cancel"}</a>
      ${verb === undefined ? nothing : html`<button class="primary">${verb}</button>`}
    </footer>`;
  return html`<dialog id="dialog" open aria-labelledby="dialog-title">
    ${
      action === null
        ? inner
        : html`<form
            method="post"
            action="${action}"
            hx-post="${action}"
            hx-target="#dialog"
            hx-swap="outerMorph"
            hx-disable="find .primary"
          >
            ${inner}
          </form>`
    }
  </dialog>`;
}

/** Renders the consequences of an act, one a line. */
export function renderThen(lines: readonly (readonly [name: string, text: string])[]): Html {
  return html`<dl class="facts">
    ${lines.map(
      ([name, text]) =>
        html`<dt>${name}</dt>
          <dd>${text}</dd>`,
    )}
  </dl>`;
}

/** Renders a labelled text field. */
export function renderField(label: string, name: string, value: string | null, attributes: Html): Html {
  return html`<label class="field"
    >${label}<input type="text" name="${name}" value="${value ?? ""}" autocomplete="off" ${attributes}
  /></label>`;
}

/** Renders a radio button. */
export function renderRadio(name: string, value: string, chosen: string | null, words: Html, kind = ""): Html {
  const checked = value === chosen ? html`checked` : nothing;
  return html`<label class="${kind}"
    ><input type="radio" name="${name}" value="${value}" required ${checked} />${words}</label
  > `;
}

/** Hours, or a given end. */
const lengths = ["1", "4", "24", "168", "until"];

/** Renders the choice of a silence's length. */
export function renderLengths(form: URLSearchParams, nowMs: number): Html {
  const choices = lengths.map((one) => {
    const ends =
      one === "until" ? html`until, in UTC` : html`${one} h, to ${timeText(nowMs + Number(one) * hourMs, nowMs)}`;
    return renderRadio("length", one, form.get("length") ?? "4", ends);
  });
  return html`<fieldset class="lengths">
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
  </fieldset>`;
}

/** Returns the chosen end as ISO 8601; of a length that is not offered, the given end, whatever it is. */
export function endOf(form: URLSearchParams, nowMs: number): string {
  const length = form.get("length") ?? "until";
  if (length === "until" || !lengths.includes(length)) return `${form.get("until") ?? ""}:00Z`;
  return new Date(nowMs + Number(length) * hourMs).toISOString();
}
