import { html, type Html } from "../../parts/html.ts";
import { renderDialog, renderThen } from "../dialog.ts";
import { renderDurations } from "../incidents/dialogs.ts";
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
  const content = html`${renderDurations(duration)}${renderThen([
      ["Messages", "of all its checks stop; checks run on, and its gate stays as it is"],
    ])}<label class="field"
      >Why? (kept with your name)<input type="text" name="comment" maxlength="1000" value="${comment}" required
    /></label>`;
  const foot = `As ${author}. Can be ended at any time.`;
  return renderDialog({
    action: `${path}/silence`,
    title: `Silence ${slug}?`,
    content,
    problem,
    foot,
    verb: "Silence",
    back: path,
  });
}
