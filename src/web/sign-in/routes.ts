import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { isFromOwnPage } from "../access/own-page.ts";
import { personNameOf, receiveForm } from "../body.ts";
import { paramsOf, sendHtml } from "../answer.ts";
import { durationText } from "../../words/numbers.ts";
import { renderMessage } from "../pages/frame.ts";
import { renderSheet } from "../pages/sheet.ts";
import type { WebParts } from "../parts.ts";
import { html, type Html } from "../parts/html.ts";
import { addRoute } from "../route.ts";
import { localPath } from "./next.ts";
import { renderSignIn, type SignInView } from "./page.ts";
import { createRefusedSignIns } from "./refused.ts";

// A token, a name and a path.
const mostFormBytes = 16 * 1_024;
const retryAfterSeconds = "60";

/** `/sign-in` and `/sign-out` (CONTRACT 19). */
export function addSignInRoutes(server: FastifyInstance, { running, sessions, bodies }: WebParts): void {
  const refused = createRefusedSignIns(running.clock);
  const { access } = server.routes;

  function send(request: FastifyRequest, reply: FastifyReply, main: Html): Promise<FastifyReply> {
    return sendHtml(request, reply, renderSheet("Sign in · flatline", main));
  }

  function sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    view: Pick<SignInView, "next"> & Partial<SignInView>,
  ): Promise<FastifyReply> {
    const { tokens, sessionTtlMs } = access();
    if (tokens.length === 0) {
      const text = html`No token is configured: set <code>server.token</code> in flatline.yaml, then reload.`;
      return send(request, reply.code(403), renderMessage("Nobody can sign in here.", text));
    }
    const asked = { personName: "", isRemembered: true, ttl: durationText(sessionTtlMs), problem: null };
    return send(request, reply, renderSignIn({ ...asked, ...view }));
  }

  /** Returns whether a page of another site, or a program, sent it. */
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
      void reply.code(status);
      return sendForm(request, reply, { ...again, problem: { field: status === 429 ? null : "token", message } });
    };
    const given = form.get("token") ?? "";
    const token = access().tokens.find(({ secret }) => secret.equals(given));
    // Only a wrong one: nobody shuts out the others behind the same address.
    if (token === undefined && refused.isOver(request.ip)) {
      void reply.header("retry-after", retryAfterSeconds);
      return refuse(429, "Too many sign-ins were refused. Wait a minute, then try again. Nothing was changed.");
    }
    if (token === undefined) {
      refused.note(request.ip);
      void reply.header("www-authenticate", 'Bearer realm="flatline"');
      return refuse(401, "This token is not accepted. Nothing was changed.");
    }
    const personName = personNameOf(form);
    if (personName === null) {
      void reply.code(400);
      return sendForm(request, reply, {
        ...again,
        problem: { field: "name", message: "Give a name of 1 to 64 letters." },
      });
    }
    await sessions.signIn(request, reply, { token, personName, isRemembered });
    return reply.redirect(next, 303);
  }

  addRoute(server, "GET /sign-in", {
    access: "open",
    handle: ({ request, reply }) => sendForm(request, reply, { next: localPath(paramsOf(request).get("next")) }),
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
