import { hourMs, minuteMs } from "../../base/time.ts";
import { timeText } from "../../words/numbers.ts";
import { html, nothing, type Html } from "../parts/html.ts";

/** Renders a button that opens a dialog of the server: over the page where scripts run, else as a page. */
export function dialogButton(href: string, words: string, isFirst = false): Html {
  return html`<a
    class="button${isFirst ? " primary" : ""}"
    href="${href}"
    hx-get="${href}"
    hx-target="#dialog-place"
    hx-swap="innerHTML"
    >${words}</a
  >`;
}

/** What a dialog asks, and what it does. */
export interface DialogParts {
  /** Where its form is sent; null: it only says something. */
  readonly action: string | null;
  readonly title: string;
  readonly content: Html;
  /** Why it was not done; empty: it was not tried. */
  readonly problem?: string;
  readonly foot: string;
  /** The name of the act. */
  readonly verb?: string;
  /** Where one goes who does not do it. */
  readonly back: string;
}

/** Renders a dialog; without scripts it is the whole page. The act is sent once however often one clicks. */
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

/** Renders what follows from an act, a line for each part. */
export function renderThen(lines: readonly (readonly [name: string, text: string])[]): Html {
  return html`<dl class="facts">
    ${lines.map(
      ([name, text]) =>
        html`<dt>${name}</dt>
          <dd>${text}</dd>`,
    )}
  </dl>`;
}

/** Renders a field of one line under its label. */
export function renderField(label: string, name: string, value: string | null, attributes: Html): Html {
  return html`<label class="field"
    >${label}<input type="text" name="${name}" value="${value ?? ""}" autocomplete="off" ${attributes}
  /></label>`;
}

/** Renders a choice of one. */
export function renderRadio(name: string, value: string, chosen: string | null, words: Html, kind = ""): Html {
  const checked = value === chosen ? html`checked` : nothing;
  return html`<label class="${kind}"
    ><input type="radio" name="${name}" value="${value}" required ${checked} />${words}</label
  > `;
}

/** Hours, or an instant. */
const lengths = ["1", "4", "24", "168", "until"];

/** Renders for how long something is silenced. */
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

/** Returns when that ends, as the API takes it. */
export function endOf(form: URLSearchParams, nowMs: number): string {
  const hours = Number(form.get("length"));
  return hours > 0 ? new Date(nowMs + hours * hourMs).toISOString() : `${form.get("until") ?? ""}:00Z`;
}
