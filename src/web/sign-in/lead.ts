import type { FastifyReply, FastifyRequest } from "fastify";

import type { Refusal, AccessSettings } from "../access/admission.ts";
import { withoutBasePath } from "../own-address.ts";

/** Returns whether a browser sent the request. */
export function wantsHtml(request: FastifyRequest): boolean {
  return (request.headers.accept ?? "").includes("text/html");
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
