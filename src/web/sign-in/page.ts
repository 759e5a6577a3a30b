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

/** Renders the form that asks for a token and a name (CONTRACT 19). */
export function renderSignIn(view: SignInView): Html {
  const { next, personName, isRemembered, ttl, problem } = view;
  return html`<div class="two">
    <form class="form" method="post" action="/sign-in">
      <h1>Sign in to flatline</h1>
      <p class="second">It lets you acknowledge, judge and release, and shows names and addresses.</p>
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
      <p class="small quiet">
        <code>server.token</code> or one of <code>server.tokens</code> in flatline.yaml. Ask whoever runs flatline.
      </p>
      <label class="field"
        >Your name, as others will read it
        <input
          type="text"
          name="name"
          autocomplete="name"
          required
          maxlength="128"
          value="${personName}"
          ${problem?.field === "name" ? html` autofocus` : nothing}
          ${invalidIf(problem?.field === "name")}
        />
      </label>
      ${problem?.field === "name" ? problemLine(problem.message) : nothing}
      <p class="row">
        <label
          ><input type="checkbox" name="remember" value="yes" ${isRemembered ? html` checked` : nothing} /> Remember me
          on this device for ${ttl}</label
        >
      </p>
      <input type="hidden" name="next" value="${next}" />
      <p class="row"><button class="primary">Sign in</button></p>
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
}

function problemLine(message: string): Html {
  return html`<p class="error" id="problem" role="alert">${message}</p>`;
}

function invalidIf(isInvalid: boolean): Html {
  return isInvalid ? html` aria-invalid="true" aria-describedby="problem"` : nothing;
}
