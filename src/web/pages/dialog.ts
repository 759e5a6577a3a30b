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
