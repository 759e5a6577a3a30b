import { html, nothing, type Html } from "../parts/html.ts";
import { nameOfPath } from "./next.ts";

/** The form, and why it was not accepted. */
export interface SignInView {
  /** A path of this server. */
  readonly next: string;
  readonly personName: string;
  readonly isRemembered: boolean;
  /** How long a session lasts, as people say it. */
  readonly ttl: string;
  /** null: it is asked for the first time. */
  readonly problem: { readonly field: "token" | "name" | null; readonly message: string } | null;
}

/** Makes a document of its content: what stands around the form is the frame's, not the form's. */
export type RenderDocument = (content: { readonly title: string; readonly main: Html }) => string;

/** Renders the page that asks for a token and a name (CONTRACT 19). */
export function renderSignIn(view: SignInView, renderDocument: RenderDocument): string {
  const { next, personName, isRemembered, ttl, problem } = view;
  const main = html`<div class="signin">
    <form method="post" action="/sign-in">
      <h1 class="sentence">Sign in to flatline</h1>
      <p class="why">It lets you acknowledge, judge and release, and shows names and addresses.</p>
      ${problem?.field === null ? problemLine(problem.message) : nothing}
      <label class="field"
        >Token
        <input
          type="password"
          name="token"
          autocomplete="current-password"
          required
          ${problem?.field === "name" ? nothing : html` autofocus`}
          ${invalidIf(problem?.field === "token")}
        />
      </label>
      ${problem?.field === "token" ? problemLine(problem.message) : nothing}
      <p class="hint">
        <code>server.token</code> or one of <code>server.tokens</code> in flatline.yaml. Ask whoever runs flatline.
      </p>
      <label class="field"
        >Your name, as others will read it
        <input
          type="text"
          name="name"
          autocomplete="name"
          required
          maxlength="64"
          value="${personName}"
          ${problem?.field === "name" ? html` autofocus` : nothing}
          ${invalidIf(problem?.field === "name")}
        />
      </label>
      ${problem?.field === "name" ? problemLine(problem.message) : nothing}
      <label class="check"
        ><input type="checkbox" name="remember" value="yes" ${isRemembered ? html` checked` : nothing} /> Remember me on
        this device for ${ttl}</label
      >
      <input type="hidden" name="next" value="${next}" />
      <button class="primary">Sign in</button>
    </form>
    <aside>
      <h2>Then you go on to ${nameOfPath(next)}</h2>
      <dl class="facts">
        <dt>Kept on this device</dt>
        <dd>a session, never the token</dd>
        <dt>Shown to others</dt>
        <dd>your name, beside what you do</dd>
        <dt>Ends</dt>
        <dd>after ${ttl} without use, by Sign out in the foot of every page, or when the token is withdrawn</dd>
      </dl>
    </aside>
  </div>`;
  return renderDocument({ title: "Sign in · flatline", main });
}

/** Renders why nobody can sign in here, or why this one may not. */
export function renderNoSignIn(title: string, text: Html, renderDocument: RenderDocument): string {
  const main = html`<h1 class="sentence">${title}</h1>
    <p class="why">${text}</p>`;
  return renderDocument({ title: "Sign in · flatline", main });
}

function problemLine(message: string): Html {
  return html`<p class="problem-line bad" id="problem" role="alert">${message}</p>`;
}

function invalidIf(isInvalid: boolean): Html {
  return isInvalid ? html` aria-invalid="true" aria-describedby="problem"` : nothing;
}
