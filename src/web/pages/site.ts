import { createHash } from "node:crypto";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { FlatlineError, storeReason } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { minuteMs } from "../../base/time.ts";
import { acceptedEncoding } from "../assets.ts";
import { hasIdentities, refusalOf, sendRefusal, type Access, type Refusal } from "../access/admission.ts";
import { readerOf } from "../access/identity.ts";
import { signedInAs } from "../access/sessions.ts";
import type { AccessSettings } from "../access/settings.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { createErrorHandler, describeError, pathOf, sendProblem } from "../problem.ts";
import { readFrame } from "../read/frame.ts";
import type { Running } from "../read/running.ts";
import { addRoute } from "../route.ts";
import { signInPath } from "../sign-in/next.ts";
import { isLedToSignIn, leadToSignIn, wantsHtml } from "../sign-in/lead.ts";
import { siteAssets } from "./assets.ts";
import { renderDocument, renderMessage, type PageContent } from "./frame.ts";
import { packText, sendPacked, sendText, type PackedText } from "../answer.ts";

export interface SiteOptions {
  readonly version: string;
  readonly logger: Logger;
  readonly running: Running;
  readonly settings: () => AccessSettings;
}

type Handle = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** Registers a page for browsers, of a GET. */
export type AddPage = (
  path: string,
  access: Access,
  handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
) => void;

/** What all pages have in common: their frame, who may see them, and how they answer. */
export interface Site {
  /** Registers pages in a scope, whose errors are pages too. Without identity a closed one leads to where one signs in. */
  pagesOf(scope: FastifyInstance): AddPage;
  /**
   * Registers what a form of a page does, and what asks for it in a dialog [nothing does]. Who may not is led to where one signs
   * in, or told why that does not help.
   */
  addAct(
    scope: FastifyInstance,
    path: string,
    access: Access,
    act: { readonly ask?: Handle; readonly perform: Handle },
  ): void;
  /** Answers with a whole page. */
  send(request: FastifyRequest, reply: FastifyReply, content: PageContent): Promise<FastifyReply>;
  /** Answers with a dialog: a part of the page where scripts run, else a page of its own. */
  sendDialog(
    request: FastifyRequest,
    reply: FastifyReply,
    dialog: Html,
    around: Omit<PageContent, "main">,
  ): Promise<FastifyReply>;
  /** Says what an act has done, on the page at `path`. */
  sendDone(request: FastifyRequest, reply: FastifyReply, did: string, path: string): FastifyReply;
  /** Answers with a page that says that something is not there: 404. */
  sendMissing(request: FastifyRequest, reply: FastifyReply, content: Omit<PageContent, "title">): Promise<FastifyReply>;
  /** Answers who may not see or do something. */
  readonly refuse: (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => unknown;
  /** Answers what went wrong, as a page where a browser asks. */
  readonly fail: (error: unknown, request: FastifyRequest, reply: FastifyReply) => unknown;
}

// Pages that are kept for others who have them open, with some 20 kB each.
const mostAnswers = 100;

/** Returns what the pages of one server share. */
export function createSite({ version, logger, running, settings }: SiteOptions): Site {
  const { clock, storeProblem } = running;
  const startedMs = clock.nowMs();
  let acts = 0;
  /** What each reader sees of the page that is asked for, in a word. */
  const tags = new WeakMap<FastifyRequest, string>();
  /** Pages as they were sent to the first who read them; null: that was none that others may have. */
  const answers = new Map<string, Promise<PackedText | null>>();
  /** Who waits for what is sent to a reader. */
  const waiting = new WeakMap<FastifyRequest, (page: PackedText) => void>();

  async function send(request: FastifyRequest, reply: FastifyReply, content: PageContent): Promise<FastifyReply> {
    const mayRead = content.isPoor !== true && refusalOf(request, { access: "public" }, settings()) === null;
    const facts = mayRead ? await readFrame(running).catch(nullWithoutStore) : null;
    const text = renderDocument(
      {
        version,
        nowMs: clock.nowMs(),
        facts,
        storeProblem: storeProblem(),
        reader: readerOf(request),
        isSession: signedInAs(request) !== null,
        canSignIn: settings().tokens.length > 0,
        assets: siteAssets(),
        here: request.url,
        tag: tags.get(request) ?? "",
      },
      content,
    );
    const page = await packText(request, text);
    if (reply.statusCode === 200) waiting.get(request)?.(page);
    // What could not be read has no version.
    if (reply.statusCode >= 500) reply.removeHeader("etag");
    return sendPage(reply, page);
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): unknown {
    const access = settings();
    if (!isOfApi(request) && isLedToSignIn(request, refusal, access)) return leadToSignIn(request, reply);
    // An `Authorization` decides alone, so that a wrong one is answered as the API does.
    if (!wantsPage(request) || (refusal.status === 401 && request.headers.authorization !== undefined))
      return sendRefusal(reply, refusal);
    const main = renderRefusal(refusal, access, request.url);
    return send(request, reply.code(refusal.status), {
      title: "Not for you · flatline",
      current: null,
      isPoor: true,
      main,
    });
  }

  /** Two pages with one tag say the same: what is in it is all that a page is made of, before anything is read. */
  function tagOf(request: FastifyRequest): string {
    const { identity, url } = request;
    const reader = { ...identity, rights: [...(identity?.rights ?? [])] };
    const minute = Math.floor(clock.nowMs() / minuteMs);
    const said = [startedMs, minute, running.version(), acts, storeProblem(), url, reader];
    return `"${createHash("sha256").update(JSON.stringify(said)).digest("base64url").slice(0, 20)}"`;
  }

  /** All who have a page open read it again when it has changed: it is made for the first of those who see the same. */
  async function shared(request: FastifyRequest, reply: FastifyReply, handle: Handle): Promise<unknown> {
    const key = `${tags.get(request)} ${acceptedEncoding(request)}`;
    const known = await answers.get(key);
    if (known !== undefined && known !== null) return sendPage(reply, known);
    for (const oldest of answers.keys()) if (answers.size >= mostAnswers) answers.delete(oldest);
    const { promise, resolve } = Promise.withResolvers<PackedText | null>();
    answers.set(key, promise);
    waiting.set(request, resolve);
    try {
      return await handle(request, reply);
    } finally {
      // What was no page, or failed, is nobody else's.
      resolve(null);
      if (reply.statusCode !== 200) answers.delete(key);
    }
  }

  const answerProblem = createErrorHandler(logger);

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
    if (!wantsPage(request)) return answerProblem(error, request, reply);
    const { status, message } = describeError(error);
    const path = pathOf(request.url);
    const again = html`<a href="${request.method === "GET" ? request.url : "/"}">Try again</a>`;
    let main = renderMessage("This could not be answered.", html`${sentenceOf(message)} ${again}`);
    if (storeReason(error) !== null) {
      logger.error({ err: error, path }, "a page could not be read from the store");
      void reply.header("retry-after", "5");
      const text = html`What is known is not shown as long as that lasts; flatline's log says more. ${again}`;
      main = renderMessage("flatline cannot read its store.", text);
    } else if (status === 500) {
      logger.error({ err: error, method: request.method, path }, "a request failed");
      main = renderMessage("flatline could not make this page.", html`Its log says why. ${again}`);
    }
    const code = storeReason(error) === null ? status : 503;
    return send(request, reply.code(code), { title: "flatline", current: null, isPoor: true, main });
  }

  return {
    send,
    refuse,
    fail,
    addAct: (scope, path, access, { ask, perform }) => {
      if (ask !== undefined)
        addRoute(scope, `GET ${path}`, {
          access,
          isWrite: false,
          handle: ({ request, reply }) => ask(request, reply),
        });
      // Who has done it reads the page again, and sees it.
      addRoute(scope, `POST ${path}`, {
        access,
        handle: async ({ request, reply }) => {
          try {
            return await perform(request, reply);
          } finally {
            acts++;
          }
        },
      });
    },
    sendDialog: (request, reply, dialog, around) =>
      wantsPart(request)
        ? sendText(request, reply, "text/html", dialog.html)
        : send(request, reply, { ...around, main: dialog }),
    sendDone: (request, reply, did, path) => {
      if (wantsPart(request))
        return reply
          .code(204)
          .header("hx-trigger", asciiJson({ done: did }))
          .send();
      return reply.redirect(`${path}${path.includes("?") ? "&" : "?"}did=${encodeURIComponent(did)}`, 303);
    },
    sendMissing: (request, reply, content) =>
      send(request, reply.code(404), { title: "Not found · flatline", ...content }),
    pagesOf: (scope) => (path, access, handle) =>
      addRoute(scope, `GET ${path}`, {
        access,
        handle: ({ request, reply }) => {
          const tag = tagOf(request);
          tags.set(request, tag);
          void reply.header("etag", tag);
          if (request.headers["if-none-match"] === tag) return reply.code(304).send();
          return wantsPart(request) ? shared(request, reply, handle) : handle(request, reply);
        },
      }),
  };
}

function sendPage(reply: FastifyReply, page: PackedText): FastifyReply {
  return sendPacked(reply, "text/html", page);
}

/** A header has bytes of one kind only. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function renderRefusal({ message }: Refusal, settings: AccessSettings, url: string): Html {
  const other =
    settings.tokens.length === 0 ? nothing : html` <a href="${signInPath(url)}">Sign in with another token</a>`;
  if (hasIdentities(settings)) return renderMessage("This page is not for you.", html`${sentenceOf(message)}${other}`);
  return renderMessage(
    "This page needs a token.",
    html`None is configured: set <code>server.token</code> in flatline.yaml, then reload.`,
  );
}

/** Answers what no route does: a page to a browser, which costs next to nothing, as whoever scans asks for thousands. */
export function addMissingPage(scope: FastifyInstance, settings: () => AccessSettings, site: Site): void {
  scope.setNotFoundHandler((request, reply) => {
    const access = request.url.startsWith("/-/") ? "open" : "public";
    // Where reading is closed, the answer does not show what exists.
    const refusal = refusalOf(request, { access }, settings());
    if (refusal !== null)
      return wantsPage(request) ? site.refuse(request, reply, refusal) : sendRefusal(reply, refusal);
    if (!wantsPage(request)) return sendProblem(reply, 404, "no such path");
    const main = renderMessage("There is no page here.", html`<a href="/">All organizations</a>`);
    return site.sendMissing(request, reply, { current: null, isPoor: true, main });
  });
}

function isOfApi({ url }: FastifyRequest): boolean {
  return /^\/(?:-|api|metrics|probe|assets)(?:[/?]|$)/.test(url);
}

/** Returns whether a page answers the request: a browser asks for one. */
function wantsPage(request: FastifyRequest): boolean {
  return wantsHtml(request) && !isOfApi(request);
}

/** Returns what the program says of a mistake, as a sentence. */
export function sentenceOf(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
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

/** A page that says that nothing like it is known. */
export function missingIncident(reference: string): Omit<PageContent, "title"> {
  const main = renderMessage(
    "There is no such incident.",
    html`Nothing is known of «${reference}». <a href="/incidents">All incidents</a>`,
  );
  return { current: "incidents", main };
}
