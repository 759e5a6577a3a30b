import { html, nothing, type Html } from "../parts/html.ts";

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

/** Renders the form that asks for a token and a name (CONTRACT 13). */
export function renderSignIn({ next, personName, isRemembered, ttl, problem }: SignInView): Html {
  const about = (field: "token" | "name"): Html =>
    html` required${(problem?.field ?? "token") === field ? html` autofocus` : nothing}${problem?.field === field ? html` aria-invalid="true" aria-describedby="problem"` : nothing}`;
  return html`<form class="form" method="post" action="/sign-in">
    <h1>Sign in to flatline</h1>
    <p class="second">
      It lets you acknowledge, judge and release, and shows names and addresses. This device keeps a session, never the
      token; it ends after ${ttl} without use, or by Sign out.
    </p>
    ${problem === null ? nothing : html`<p class="error" id="problem" role="alert">${problem.message}</p>`}
    <label class="field"
      >Token <input type="password" name="token" autocomplete="current-password" ${about("token")} />
    </label>
    <p class="small quiet">
      <code>server.token</code> or one of <code>server.tokens</code> in flatline.yaml. Ask whoever runs flatline.
    </p>
    <label class="field"
      >Your name, as others will read it
      <input type="text" name="name" autocomplete="name" maxlength="128" value="${personName}" ${about("name")} />
    </label>
    <p class="row">
      <label
        ><input type="checkbox" name="remember" value="yes" ${isRemembered ? html` checked` : nothing} /> Remember me on
        this device for ${ttl}</label
      >
    </p>
    <input type="hidden" name="next" value="${next}" />
    <p class="row"><button class="primary">Sign in</button></p>
  </form>`;
}
