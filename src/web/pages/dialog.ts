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

/**
 * The attributes of a part of a dialog's form, at whose change the dialog is computed again; only the last of several changes
 * waits for the answer to the one before.
 */
export function asksAgainAt(action: string): Html {
  return html`hx-get="${action}" hx-trigger="change" hx-include="closest form" hx-target="#dialog" hx-swap="outerMorph"
  hx-sync="closest form:queue last"`;
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
  /** Whether it is computed again when something in it is changed [no]. */
  readonly asksAgain?: boolean;
}

/**
 * Renders a dialog; without scripts it is the whole page. The act takes the place of a question that is under way, whose answer
 * would come after it and hide why it was refused, and is sent once however often one clicks.
 */
export function renderDialog({
  action,
  title,
  content,
  problem = "",
  foot,
  verb,
  back,
  asksAgain = false,
}: DialogParts): Html {
  const inner = html`<h1 id="dialog-title">${title}</h1>
    ${
      asksAgain && action !== null ? html`<div ${asksAgainAt(action)}>${content}</div>` : content
    }${action === null ? nothing : html`<p class="error" role="alert">${problem}</p>`}
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
            hx-sync="this:replace"
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
