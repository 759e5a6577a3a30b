import type { FastifyReply, FastifyRequest } from "fastify";

import type { Refusal } from "../access/admission.ts";
import type { AccessSettings } from "../access/identity.ts";
import { withoutBasePath } from "../base-path.ts";

/** Returns whether the request is from a browser. */
export function wantsHtml(request: FastifyRequest): boolean {
  return (request.headers.accept ?? "").includes("text/html");
}

/** Returns whether the request would take a page: whatever names no other kind does. */
function takesPage({ headers: { accept = "*/*" } }: FastifyRequest): boolean {
  return accept.includes("text/html") || accept.includes("*/*");
}

/** Returns whether a sign-in helps who was refused. An `Authorization` decides alone: a wrong one is answered as by the API. */
export function isLedToSignIn(request: FastifyRequest, { status }: Refusal, { tokens }: AccessSettings): boolean {
  return status === 401 && tokens.length > 0 && request.headers.authorization === undefined && takesPage(request);
}

/** Leads who asks for a page, or sends a form, to the sign-in, and from there back to that page. */
export function leadToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = signInPath(request.method === "POST" ? pageOfForm(request) : request.url);
  // A script would follow a redirect and put the sign-in where it wanted a part of a page.
  if (request.headers["hx-request"] === "true") return reply.code(204).header("hx-redirect", path).send();
  return reply.redirect(path, 303);
}

/** The page that a form stands on, by its referrer, which `same-origin` lets through. */
function pageOfForm({ headers, basePath }: FastifyRequest): string {
  const url = URL.parse(headers.referer ?? "");
  return url !== null && url.host === headers.host ? withoutBasePath(basePath, `${url.pathname}${url.search}`) : "/";
}

// Longer ones are of no page.
const longestNext = 2_048;
// Any name will do: what leaves it is not an address here.
const here = "http://flatline.invalid";

/** Returns where to go on to after a sign-in: a path of this server, whatever `next` says; `/` for all that is none. */
export function localPath(next: string | null | undefined): string {
  if (next === null || next === undefined || !next.startsWith("/") || next.length > longestNext) return "/";
  const url = URL.parse(next, here);
  if (url === null || url.origin !== here) return "/";
  const path = `${url.pathname}${url.search}${url.hash}`;
  // What a browser reads as another host (`/.//host` becomes that, too), and what would lead back here.
  return path.startsWith("//") || /^\/sign-(?:in|out)(?:[/?#]|$)/.test(path) ? "/" : path;
}

/** Returns the address of the form, which leads on to `path`. */
export function signInPath(path: string): string {
  const next = localPath(path);
  return next === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`;
}
