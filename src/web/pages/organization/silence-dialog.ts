import { html, nothing, type Html } from "../../parts/html.ts";
import { durations } from "../incidents/dialogs.ts";
import { organizationPath } from "./organization.ts";

/** What has been filled in, and why it was not done; `problem` empty: it was not tried. */
export interface SilenceForm {
  readonly duration: string;
  readonly comment: string;
  readonly problem: string;
}

/** Renders the dialog that silences an organization; without scripts it is the whole page. */
export function renderSilenceDialog(slug: string, author: string, { duration, comment, problem }: SilenceForm): Html {
  const path = organizationPath(slug);
  return html`<dialog id="dialog" open aria-labelledby="dialog-title">
    <form method="post" action="${path}/silence" hx-post="${path}/silence" hx-target="#dialog" hx-swap="outerMorph">
      <h2 id="dialog-title">Silence ${slug}?</h2>
      <fieldset class="who">
        <legend>For how long</legend>
        <p class="row">
          ${durations.map((one) => html`<label class="row"><input type="radio" name="duration" value="${one}" ${one === duration ? html` checked` : nothing} />${one}</label> `)}
        </p>
      </fieldset>
      <dl class="then">
        <dt>Messages</dt>
        <dd>of all its checks stop; checks run on, and its gate stays as it is</dd>
      </dl>
      <label class="field"
        >Why? (kept with your name)<input type="text" name="comment" maxlength="1000" value="${comment}" required
      /></label>
      <p class="error" role="alert">${problem}</p>
      <footer>
        <p>As ${author}. Can be ended at any time.</p>
        <a class="button" href="${path}" data-close>Cancel</a>
        <button class="primary">Silence</button>
      </footer>
    </form>
  </dialog>`;
}
