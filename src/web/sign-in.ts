import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { minuteMs, type Clock } from "../base/time.ts";
import { durationText } from "../words/numbers.ts";
import type { AccessSettings, Refusal } from "./access/admission.ts";
import { sendHtml } from "./answer.ts";
import { personNameOf, receiveForm } from "./input.ts";
import { isFromOwnPage, withoutBasePath } from "./own-address.ts";
import { renderMessage, renderSheet } from "./pages/frame.ts";
import { html, nothing, type Html } from "./pages/html.ts";
import type { WebParts } from "./parts.ts";
import { addRoute } from "./route.ts";

const mostFormBytes = 16 * 1_024;

/** The sign-in form. */
interface SignInView {
  /** A path of this server. */
  readonly next: string;
  readonly personName?: string;
  readonly isRemembered?: boolean;
  readonly problem?: { readonly field: "token" | "name" | null; readonly message: string };
}

/** Adds `/sign-in` and `/sign-out` (CONTRACT 13). */
export function addSignInRoutes(server: FastifyInstance, { running, sessions, bodies }: WebParts): void {
  const refused = createRefusedSignIns(running.clock);
  const { access } = server.routes;

  function send(request: FastifyRequest, reply: FastifyReply, main: Html): Promise<FastifyReply> {
    return sendHtml(request, reply, renderSheet("Sign in · flatline", main));
  }

  function sendForm(request: FastifyRequest, reply: FastifyReply, view: SignInView): Promise<FastifyReply> {
    const { tokens, sessionTtlMs } = access();
    if (tokens.length > 0) return send(request, reply, renderSignIn(view, durationText(sessionTtlMs)));
    const text = html`No token is configured: set <code>server.token</code> in flatline.yaml, then reload.`;
    return send(request, reply.code(403), renderMessage("Nobody can sign in here.", text));
  }

  /** Returns whether another site, or a program, sent the request. */
  function isForeign(request: FastifyRequest): boolean {
    return !isFromOwnPage(request.raw, access().externalUrl, { isHostEnough: true });
  }

  function sendForeign(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const text = html`A page of another site sent this. <a href="/sign-in">Sign in here</a>`;
    return send(request, reply.code(403), renderMessage("Nothing was changed.", text));
  }

  async function signIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (isForeign(request)) return sendForeign(request, reply);
    const form = await receiveForm(request, reply, { mostBytes: mostFormBytes, budget: bodies });
    const next = localPath(form.get("next"));
    const isRemembered = form.has("remember");
    const again = { next, personName: form.get("name") ?? "", isRemembered };
    const refuse = (status: number, message: string): Promise<FastifyReply> => {
      request.failedVia = "session";
      const problem = { field: status === 429 ? null : ("token" as const), message };
      return sendForm(request, reply.code(status), { ...again, problem });
    };
    const given = form.get("token") ?? "";
    const token = access().tokens.find(({ secret }) => secret.equals(given));
    // A right token is always accepted, so that nobody can shut out others behind the same address.
    if (token === undefined && refused.isOver(request.ip)) {
      void reply.header("retry-after", "60");
      return refuse(429, "Too many sign-ins were refused. Wait a minute, then try again. Nothing was changed.");
    }
    if (token === undefined) {
      refused.note(request.ip);
      void reply.header("www-authenticate", 'Bearer realm="flatline"');
      return refuse(401, "This token is not accepted. Nothing was changed.");
    }
    const personName = personNameOf(form);
    if (personName === null) {
      const problem = { field: "name", message: "Give a name of 1 to 64 letters." } as const;
      return sendForm(request, reply.code(400), { ...again, problem });
    }
    await sessions.signIn(request, reply, { token, personName, isRemembered });
    return reply.redirect(next, 303);
  }

  addRoute(server, "GET /sign-in", {
    access: "open",
    handle: ({ request, reply, search }) => sendForm(request, reply, { next: localPath(search.get("next")) }),
  });
  addRoute(server, "POST /sign-in", { access: "open", handle: ({ request, reply }) => signIn(request, reply) });
  addRoute(server, "POST /sign-out", {
    access: "open",
    handle: async ({ request, reply }) => {
      if (isForeign(request)) return sendForeign(request, reply);
      await sessions.signOut(request, reply);
      return reply.redirect("/", 303);
    },
  });
}

/** Renders the sign-in form; `ttl` is a session's length in words. */
function renderSignIn({ next, personName = "", isRemembered = true, problem }: SignInView, ttl: string): Html {
  const about = (field: "token" | "name"): Html =>
    html` required${(problem?.field ?? "token") === field ? html` autofocus` : nothing}${
      problem?.field === field ? html` aria-invalid="true" aria-describedby="problem"` : nothing
    }`;
  return html`<form class="form" method="post" action="/sign-in">
    <h1>Sign in to flatline</h1>
    <p class="second">
      It lets you acknowledge, judge and release, and shows names and addresses. This device keeps a session, never the
      token; it ends after ${ttl} without use, or by Sign out.
    </p>
    ${problem === undefined ? nothing : html`<p class="error" id="problem" role="alert">${problem.message}</p>`}
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

// CONTRACT 13.
const mostPerMinute = 10;
// A client with more addresses only removes the oldest ones, and memory stays small.
const mostAddresses = 10_000;

export function createRefusedSignIns(clock: Pick<Clock, "monotonicMs">) {
  const byAddress = new Map<string, readonly number[]>();
  const recent = (address: string): readonly number[] =>
    (byAddress.get(address) ?? []).filter((atMs) => clock.monotonicMs() - atMs < minuteMs);
  return {
    /** Returns whether an address has reached the limit for a minute. */
    isOver: (address: string): boolean => recent(address).length >= mostPerMinute,
    note: (address: string): void => {
      const instants = [...recent(address), clock.monotonicMs()];
      byAddress.delete(address);
      const [oldest] = byAddress.keys();
      if (byAddress.size >= mostAddresses && oldest !== undefined) byAddress.delete(oldest);
      byAddress.set(address, instants);
    },
  };
}

/** Returns whether a sign-in can help. A request with a wrong `Authorization` gets the API's answer. */
export function isLedToSignIn({ headers }: FastifyRequest, { status }: Refusal, { tokens }: AccessSettings): boolean {
  // A client that names no type accepts a page, too.
  const takesPage = /text\/html|\*\/\*/.test(headers.accept ?? "*/*");
  return status === 401 && tokens.length > 0 && headers.authorization === undefined && takesPage;
}

/** Redirects to the sign-in, which leads back to the page, or to the form's page. */
export function leadToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = signInPath(request.method === "POST" ? pageOfForm(request) : request.url);
  // htmx would follow a redirect and insert the sign-in into the page.
  if (request.headers["hx-request"] === "true") return reply.code(204).header("hx-redirect", path).send();
  return reply.redirect(path, 303);
}

/** Returns a form's page from its `Referer`, which the policy `same-origin` allows; `/` without one. */
export function pageOfForm({ headers, basePath }: FastifyRequest): string {
  const url = URL.parse(headers.referer ?? "");
  if (url === null || url.host !== headers.host) return "/";
  return localPath(withoutBasePath(basePath, `${url.pathname}${url.search}`));
}

// No page has a longer address.
const longestNext = 2_048;
// Any unused host does: an address with another one is foreign.
const here = "http://flatline.invalid";

/** Returns a path of this server to go to after the sign-in; `/` for anything else. */
export function localPath(next: string | null | undefined): string {
  if (next === null || next === undefined || !next.startsWith("/") || next.length > longestNext) return "/";
  const url = URL.parse(next, here);
  if (url === null || url.origin !== here) return "/";
  const path = `${url.pathname}${url.search}${url.hash}`;
  // Browsers read `//host` as another host, also from `/.//host`; the sign-in itself would be a loop.
  return path.startsWith("//") || /^\/sign-(?:in|out)(?:[/?#]|$)/.test(path) ? "/" : path;
}

/** Returns the address of the sign-in that leads on to `path`. */
export function signInPath(path: string): string {
  const next = localPath(path);
  return next === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`;
}
