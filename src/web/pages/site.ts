import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { FlatlineError, storeReason } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { secondMs } from "../../base/time.ts";
import { refusalOf, sendRefusal, type Access, type Refusal } from "../access/admission.ts";
import { readerOf, scopeOf } from "../access/identity.ts";
import { signedInAs } from "../access/sessions.ts";
import type { AccessSettings } from "../access/settings.ts";
import { html } from "../parts/html.ts";
import { readFrame, type FrameFacts } from "../read/frame.ts";
import type { Running } from "../read/running.ts";
import { createErrorHandler, describeError, pathOf } from "../problem.ts";
import { addResource } from "../resource.ts";
import { localPath } from "../sign-in/next.ts";
import { isLedToSignIn, leadToSignIn, wantsHtml } from "../sign-in/lead.ts";
import { siteAssets } from "./assets.ts";
import { renderDocument, renderMessage, themes, type PageContent, type Theme } from "./frame.ts";
import { sendText } from "../page/answer.ts";

export interface SiteOptions {
  readonly version: string;
  readonly logger: Logger;
  readonly running: Running;
  readonly settings: () => AccessSettings;
  /** What is wrong with the store, in words, beginning in lower case; null: nothing is. */
  readonly storeProblem: () => string | null;
}

/** Registers a page for browsers, of a GET. */
export type AddPage = (
  path: string,
  access: Access,
  handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
) => void;

/** What all pages have in common: their frame, who may see them, and how they answer. */
export interface Site {
  /** Registers pages in a scope. Without identity a closed one leads to where one signs in. */
  pagesOf(scope: FastifyInstance): AddPage;
  /** Answers with a whole page. */
  send(request: FastifyRequest, reply: FastifyReply, content: PageContent): Promise<FastifyReply>;
  /** Answers with a page that says that something is not there: 404. */
  sendMissing(request: FastifyRequest, reply: FastifyReply, content: Omit<PageContent, "title">): Promise<FastifyReply>;
  /** Answers who may not see or do something: a browser is led to where one signs in. */
  refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): unknown;
}

// Who reloads twice within a second sees the same.
const freshMs = secondMs;
// Tokens differ in what they may see, and some may see the same.
const mostScopes = 100;

/** Returns what the pages of one server share. */
export function createSite({ version, logger, running, settings, storeProblem }: SiteOptions): Site {
  const { clock } = running;
  const cached = new Map<string, { readonly atMs: number; readonly facts: Promise<FrameFacts> }>();

  function factsFor({ identity }: FastifyRequest): Promise<FrameFacts> {
    const scope = scopeOf(identity);
    const known = cached.get(scope);
    if (known !== undefined && clock.monotonicMs() - known.atMs < freshMs) return known.facts;
    if (cached.size >= mostScopes) cached.clear();
    const facts = readFrame(running, identity);
    cached.set(scope, { atMs: clock.monotonicMs(), facts });
    facts.catch(() => cached.delete(scope));
    return facts;
  }

  async function send(request: FastifyRequest, reply: FastifyReply, content: PageContent): Promise<FastifyReply> {
    const mayRead = refusalOf(request, { access: "public" }, settings()) === null;
    const facts = mayRead ? await factsFor(request).catch(nullWithoutStore) : null;
    const text = renderDocument(
      {
        version,
        nowMs: clock.nowMs(),
        facts,
        storeProblem: storeProblem(),
        reader: readerOf(request),
        isSession: signedInAs(request) !== null,
        canSignIn: settings().tokens.length > 0,
        theme: themeOf(request),
        assets: siteAssets(),
        here: request.url,
      },
      content,
    );
    void reply.headers({ "cache-control": "no-store", "referrer-policy": "same-origin" });
    return sendText(request, reply, "text/html", text);
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): unknown {
    return isLedToSignIn(request, refusal, settings()) ? leadToSignIn(request, reply) : sendRefusal(reply, refusal);
  }

  const handleError = createErrorHandler(logger);

  /** What went wrong, as a page: what the API says in words. */
  function failed(error: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
    if (!wantsHtml(request)) return handleError(error, request, reply);
    const { status, message } = describeError(error);
    const path = pathOf(request.url);
    const again = html`<a href="">Try again</a>`;
    const content = { title: "flatline", current: null } as const;
    if (storeReason(error) !== null) {
      logger.error({ err: error, path }, "a page could not be read from the store");
      const text = html`What is known is not shown here as long as that lasts; flatline's log says more. ${again}`;
      const main = renderMessage("flatline cannot read its store.", text);
      return send(request, reply.code(503).header("retry-after", "5"), { ...content, main });
    }
    if (status === 500) logger.error({ err: error, method: request.method, path }, "a request failed");
    const title = status === 500 ? "flatline could not make this page." : "This could not be answered.";
    const text = status === 500 ? "Its log says why." : `${message}.`;
    const main = renderMessage(title, html`${text} ${again}`);
    return send(request, reply.code(status), { ...content, main });
  }

  return {
    send,
    refuse,
    sendMissing: (request, reply, content) =>
      send(request, reply.code(404), { title: "Not found · flatline", ...content }),
    pagesOf: (scope) => {
      scope.setErrorHandler(failed);
      return (path, access, handle) => addResource(scope, path, settings, { GET: { access, handle } }, refuse);
    },
  };
}

/** A page is shown while the store cannot be read; its own part says why. */
function nullWithoutStore(error: unknown): null {
  if (storeReason(error) !== null || (error instanceof FlatlineError && error.fault !== "bug")) return null;
  throw error;
}

/** Returns whether the browser asks for a part, to put it into the page that it shows. */
export function wantsPart(request: FastifyRequest): boolean {
  return request.headers["hx-request"] === "true";
}

const themeCookie = "flatline_theme";

/** The theme that the reader has chosen. */
export function themeOf({ headers }: Pick<FastifyRequest, "headers">): Theme {
  const value = new RegExp(`(?:^|; )${themeCookie}=(\\w+)`).exec(headers.cookie ?? "")?.[1];
  return themes.find((theme) => theme === value) ?? "system";
}

/** `/theme?to=dark&back=/…` keeps the choice in the browser; it changes nothing else, so that a link may do it. */
export function addThemeRoute(scope: FastifyInstance, settings: () => AccessSettings): void {
  addResource(scope, "/theme", settings, {
    GET: {
      access: "open",
      handle: (request, reply) => {
        const { searchParams } = new URL(request.url, "http://flatline.invalid");
        const to = themes.find((theme) => theme === searchParams.get("to")) ?? "system";
        const days = to === "system" ? 0 : 400;
        void reply.header("set-cookie", `${themeCookie}=${to}; Path=/; SameSite=Lax; Max-Age=${days * 86_400}`);
        return reply.redirect(localPath(searchParams.get("back")), 303);
      },
    },
  });
}

/** A page that says that nothing like it is known. */
export function missingIncident(reference: string): Omit<PageContent, "title"> {
  const main = renderMessage(
    "There is no such incident.",
    html`Nothing is known of «${reference}». <a href="/incidents">All incidents</a>`,
  );
  return { current: "incidents", main };
}
