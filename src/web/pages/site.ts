import { hash } from "node:crypto";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { FlatlineError, storeReason } from "../../base/errors.ts";
import { minuteMs } from "../../base/time.ts";
import {
  acceptsGzip,
  packText,
  sendHtml,
  sendPacked,
  describeError,
  pathOf,
  sendProblem,
  type PackedText,
} from "../answer.ts";
import { receiveForm } from "../input.ts";
import {
  hasIdentities,
  refusalOf,
  sendRefusal,
  readerOf,
  type Access,
  type Refusal,
  type AccessSettings,
} from "../access/admission.ts";
import { html, nothing } from "./html.ts";
import type { DaemonParts } from "../parts.ts";
import { readFrame } from "../read/overview.ts";
import { addRoute, type Asked } from "../route.ts";
import { isLedToSignIn, leadToSignIn, pageOfForm, signInPath } from "../sign-in.ts";
import { renderDialog } from "./dialog.ts";
import { renderDocument, renderMessage, type PageContent } from "./frame.ts";

/** A request for a page or of a form; `search` has the query or the form's fields. */
export type PageAsked<Path extends string = string> = Asked<`GET ${Path}`, unknown, unknown>;

/** A page or a dialog to show, or the words for what was done, shown on the page at `path`. */
type ActAnswer = (PageContent & { readonly isDialog?: boolean }) | { readonly did: string; readonly path: string };

interface SiteAct<Path extends string> {
  /** `problem`: why the act failed; empty: nobody has tried it. */
  readonly ask?: (asked: PageAsked<Path>, problem: string) => ActAnswer | Promise<ActAnswer>;
  readonly perform: (asked: PageAsked<Path>) => Promise<ActAnswer>;
  /** Default: 16 KiB. */
  readonly mostBytes?: number;
}

// A page has some 20 kB: together they have 2 MB.
const mostPages = 100;
const mostFormBytes = 16 * 1_024;

interface MadePage {
  readonly status: number;
  readonly packed: PackedText;
}

/** Adds pages and acts, with their frame, access and errors. */
export type Site = ReturnType<typeof createSite>;

/** Returns the pages' common part for one server. */
export function createSite({ version, running }: DaemonParts, settings: () => AccessSettings) {
  const { clock, logger } = running;
  const startedMs = clock.nowMs();
  let acts = 0;
  /** Pages for all readers who see the same. */
  const pages = new Map<string, Promise<MadePage>>();

  async function make(request: FastifyRequest, content: PageContent, tag = ""): Promise<MadePage> {
    const mayRead = content.isPoor !== true && refusalOf(request, { access: "public" }, settings()) === null;
    const frame = {
      version,
      nowMs: clock.nowMs(),
      facts: mayRead ? await readFrame(running).catch(nullWithoutStore) : null,
      storeProblem: running.storeProblem(),
      reader: readerOf(request),
      isSession: request.session !== null,
      canSignIn: settings().tokens.length > 0,
      here: request.url,
      tag,
    };
    return { status: content.status ?? 200, packed: await packText(request, renderDocument(frame, content)) };
  }

  async function send(request: FastifyRequest, reply: FastifyReply, content: PageContent): Promise<FastifyReply> {
    return sendMade(reply, await make(request, content));
  }

  /** Returns a page's ETag: a hash of everything that its content depends on. */
  function tagOf({ identity, url }: FastifyRequest): string {
    const reader = { ...identity, rights: [...(identity?.rights ?? [])] };
    const minute = Math.floor(clock.nowMs() / minuteMs);
    const said = [startedMs, minute, running.version(), acts, running.storeProblem(), url, reader];
    return `"${hash("sha256", JSON.stringify(said), "base64url").slice(0, 20)}"`;
  }

  /** Open pages refresh after each change: readers who see the same share one page. */
  function shared(key: string, made: () => Promise<MadePage>): Promise<MadePage> {
    const known = pages.get(key);
    if (known !== undefined) return known;
    for (const oldest of pages.keys()) if (pages.size >= mostPages) pages.delete(oldest);
    const page = made();
    pages.set(key, page);
    const forget = (): unknown => pages.delete(key);
    void page.then(({ status }) => status === 200 || forget(), forget);
    return page;
  }

  async function answerAct(request: FastifyRequest, reply: FastifyReply, answer: ActAnswer): Promise<FastifyReply> {
    if (!("did" in answer)) {
      if (answer.isDialog !== true || !wantsPart(request)) return send(request, reply, answer);
      return sendHtml(request, reply.code(answer.status ?? 200), answer.main.html);
    }
    const { did, path } = answer;
    if (wantsPart(request))
      return reply
        .code(204)
        .header("hx-trigger", JSON.stringify({ done: encodeURIComponent(did) }))
        .send();
    return reply.redirect(`${path}${path.includes("?") ? "&" : "?"}did=${encodeURIComponent(did)}`, 303);
  }

  /** Answers with a short message, and reads nothing of the fleet: scanners ask for thousands of paths. */
  function say(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    ...words: Parameters<typeof renderMessage>
  ): Promise<FastifyReply> {
    const main = renderMessage(...words);
    return send(request, reply, { status, title: "flatline", current: null, isPoor: true, main });
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): unknown {
    const access = settings();
    const { status, message } = refusal;
    if (!isOfApi(request) && isLedToSignIn(request, refusal, access)) return leadToSignIn(request, reply);
    // A request with a wrong `Authorization` gets the API's answer.
    if (!wantsPage(request) || (status === 401 && request.headers.authorization !== undefined))
      return sendRefusal(reply, refusal);
    const text = html`None is configured: set <code>server.token</code> in flatline.yaml, then reload.`;
    if (!hasIdentities(access)) return say(request, reply, status, "This page needs a token.", text);
    const other = html` <a href="${signInPath(request.url)}">Sign in with another token</a>`;
    const why = html`${sentenceOf(message)}${access.tokens.length === 0 ? nothing : other}`;
    return say(request, reply, status, "This page is not for you.", why);
  }

  return {
    /** Adds a page; a reader without access is led to the sign-in. */
    addPage: <Path extends string>(
      server: FastifyInstance,
      path: Path,
      access: Access,
      render: (asked: PageAsked<Path>) => Promise<PageContent>,
    ): void =>
      addRoute(server, `GET ${path}`, {
        access,
        handle: async (asked) => {
          const { request, reply } = asked;
          const tag = tagOf(request);
          void reply.header("etag", tag);
          if (request.headers["if-none-match"] === tag) return reply.code(304).send();
          // Links and forms of the page repeat its query, but the result of an act is said once.
          asked.search.delete("did");
          const made = async (): Promise<MadePage> => make(request, await render(asked), tag);
          const key = `${tag} ${acceptsGzip(request)}`;
          return sendMade(reply, await (wantsPart(request) ? shared(key, made) : made()));
        },
      }),
    /** Adds a form's act, and the dialog that asks for it; a dialog also shows its errors. */
    addAct: <Path extends string>(
      server: FastifyInstance,
      path: Path,
      access: Access,
      { ask, perform, mostBytes = mostFormBytes }: SiteAct<Path>,
    ): void => {
      if (ask !== undefined)
        addRoute(server, `GET ${path}`, {
          access,
          isWrite: false,
          handle: async (asked) => answerAct(asked.request, asked.reply, await ask(asked, "")),
        });
      addRoute(server, `POST ${path}`, {
        access,
        handle: async (asked) => {
          const { request, reply } = asked;
          const search = await receiveForm(request, reply, { mostBytes, budget: server.routes.bodies });
          const filled = { ...asked, params: asked.params as never, search };
          let answer: ActAnswer;
          try {
            answer = await perform(filled);
          } catch (error) {
            if (!isMistake(error)) throw error;
            const again =
              ask === undefined
                ? refusedDialog(error, pageOfForm(request))
                : await ask(filled, sentenceOf(error.issues.join("; ") || error.message));
            answer = { ...again, status: error.code === "invalid_data" ? 422 : error.httpStatus };
          } finally {
            // Every open page has a new ETag after an act.
            acts++;
          }
          return answerAct(request, reply, answer);
        },
      });
    },
    refuse,
    /** Answers an error, as a page for browsers; a 500 shows no internals. */
    fail: (error: unknown, request: FastifyRequest, reply: FastifyReply): unknown => {
      const { method, url } = request;
      // An error has no ETag.
      reply.removeHeader("etag");
      // After a refused body Fastify closes, and the client may miss the answer: Node.js drops the rest instead.
      reply.removeHeader("connection");
      const { status, message, issues } = describeError(error);
      const isPage = wantsPage(request);
      const isOfStore = storeReason(error) !== null;
      if (status === 500 || (isPage && isOfStore))
        logger.error({ err: error, method, path: pathOf(url) }, "a request failed");
      if (status === 503) reply.header("retry-after", "1");
      if (!isPage) return sendProblem(reply, status, status === 500 ? "internal error" : message, issues);
      const again = html`<a href="${method === "GET" ? url : "/"}">Try again</a>`;
      const ofStore = html`What is known is not shown as long as that lasts; flatline's log says more. ${again}`;
      if (isOfStore) return say(request, reply, status, "flatline cannot read its store.", ofStore);
      const why = html`Its log says why. ${again}`;
      if (status === 500) return say(request, reply, status, "flatline could not make this page.", why);
      return say(request, reply, status, "This could not be answered.", html`${sentenceOf(message)} ${again}`);
    },
    /** Answers an unknown path. */
    miss: (request: FastifyRequest, reply: FastifyReply): unknown => {
      const access = request.url.startsWith("/-/") ? "open" : "public";
      // If reading is closed, the answer does not tell which paths exist.
      const refusal = refusalOf(request, { access }, settings());
      if (refusal !== null) return wantsPage(request) ? refuse(request, reply, refusal) : sendRefusal(reply, refusal);
      if (!wantsPage(request)) return sendProblem(reply, 404, "no such path");
      return say(request, reply, 404, "There is no page here.", html`<a href="/">All organizations</a>`);
    },
  };
}

function sendMade(reply: FastifyReply, { status, packed }: MadePage): FastifyReply {
  return sendPacked(reply.code(status), packed);
}

/** Returns whether an error is the caller's, not a bug or a problem of the store. */
export function isMistake(error: unknown): error is FlatlineError {
  return error instanceof FlatlineError && error.fault !== "bug" && storeReason(error) === null;
}

/** Renders why an act failed. */
function refusedDialog({ message, issues }: FlatlineError, back: string): ActAnswer {
  const content = html`<p>${sentenceOf(message)}</p>
    ${issues.length === 0 ? nothing : html`<pre>${issues.join("\n")}</pre>`}`;
  const main = renderDialog({ action: null, title: "Nothing was changed.", content, foot: "", back });
  return { isDialog: true, title: "flatline", current: null, main };
}

/** Returns a "not found" page. */
export function missing(current: PageContent["current"], ...words: Parameters<typeof renderMessage>): PageContent {
  return { status: 404, title: "Not found · flatline", current, main: renderMessage(...words) };
}

function isOfApi({ url }: FastifyRequest): boolean {
  return /^\/(?:-|api|metrics|probe|assets)(?:[/?]|$)/.test(url);
}

/** Returns whether a browser asks for a page. */
function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? "").includes("text/html") && !isOfApi(request);
}

/** Returns an error message as a sentence. */
export function sentenceOf(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Lets a page appear without its frame's facts while the store cannot be read. */
function nullWithoutStore(error: unknown): null {
  if (storeReason(error) !== null || (error instanceof FlatlineError && error.fault !== "bug")) return null;
  throw error;
}

/** Returns whether htmx asks for a part of a page. */
export function wantsPart(request: FastifyRequest): boolean {
  return request.headers["hx-request"] === "true";
}

/** Returns the "not found" page of an incident. */
export function missingIncident(reference: string): PageContent {
  const text = html`Nothing is known of «${reference}». <a href="/incidents">All incidents</a>`;
  return missing("incidents", "There is no such incident.", text);
}
