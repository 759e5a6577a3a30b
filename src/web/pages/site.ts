import { createHash } from "node:crypto";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { FlatlineError, storeReason } from "../../base/errors.ts";
import { minuteMs } from "../../base/time.ts";
import { packText, sendHtml, sendPacked, type PackedText } from "../answer.ts";
import { acceptsGzip } from "../assets.ts";
import { receiveForm } from "../body.ts";
import { hasIdentities, refusalOf, sendRefusal, type Access, type Refusal } from "../access/admission.ts";
import { readerOf, type AccessSettings } from "../access/identity.ts";
import { html, nothing } from "../parts/html.ts";
import { describeError, pathOf, sendProblem } from "../problem.ts";
import { readFrame } from "../read/frame.ts";
import type { Running } from "../read/running.ts";
import { addRoute, type Asked } from "../route.ts";
import { isLedToSignIn, leadToSignIn, signInPath, wantsHtml } from "../sign-in/lead.ts";
import { renderDialog } from "./dialog.ts";
import { renderDocument, renderMessage, type PageContent } from "./frame.ts";

/** What a page is asked, or a form: its fields are `search`. */
export type PageAsked<Path extends string = string> = Asked<`GET ${Path}`, unknown, unknown>;

/** What an act answers: a page; a dialog, which is a part of the page where scripts run; what was done, said on the page at `path`. */
type ActAnswer = (PageContent & { readonly isDialog?: boolean }) | { readonly did: string; readonly path: string };

// Pages that are kept for others who have them open, with some 20 kB each.
const mostPages = 100;
const mostFormBytes = 16 * 1_024;

interface MadePage {
  readonly status: number;
  readonly packed: PackedText;
}

/** What all pages have in common: their frame, who may see them, and how they answer. */
export type Site = ReturnType<typeof createSite>;

/** Returns what the pages of one server share. */
export function createSite({
  version,
  running,
  access: settings,
}: {
  readonly version: string;
  readonly running: Running;
  readonly access: () => AccessSettings;
}) {
  const { clock, logger } = running;
  const startedMs = clock.nowMs();
  let acts = 0;
  /** Pages as they are made for all who see the same. */
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

  /** Two pages with one tag say the same: what is in it is all that a page is made of, before anything is read. */
  function tagOf({ identity, url }: FastifyRequest): string {
    const reader = { ...identity, rights: [...(identity?.rights ?? [])] };
    const minute = Math.floor(clock.nowMs() / minuteMs);
    const said = [startedMs, minute, running.version(), acts, running.storeProblem(), url, reader];
    return `"${createHash("sha256").update(JSON.stringify(said)).digest("base64url").slice(0, 20)}"`;
  }

  /** All who have a page open read it again when it has changed: it is made for the first of those who see the same. */
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
        .header("hx-trigger", asciiJson({ done: did }))
        .send();
    return reply.redirect(`${path}${path.includes("?") ? "&" : "?"}did=${encodeURIComponent(did)}`, 303);
  }

  /** Answers with a page that says one thing, and reads nothing of the fleet: whoever scans asks for thousands. */
  function say(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    ...words: Parameters<typeof renderMessage>
  ): Promise<FastifyReply> {
    const main = renderMessage(...words);
    return send(request, reply, { status, title: "flatline", current: null, isPoor: true, main });
  }

  /** Answers who may not see or do something. */
  function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): unknown {
    const access = settings();
    const { status, message } = refusal;
    if (!isOfApi(request) && isLedToSignIn(request, refusal, access)) return leadToSignIn(request, reply);
    // An `Authorization` decides alone, so that a wrong one is answered as the API does.
    if (!wantsPage(request) || (status === 401 && request.headers.authorization !== undefined))
      return sendRefusal(reply, refusal);
    const text = html`None is configured: set <code>server.token</code> in flatline.yaml, then reload.`;
    if (!hasIdentities(access)) return say(request, reply, status, "This page needs a token.", text);
    const other = html` <a href="${signInPath(request.url)}">Sign in with another token</a>`;
    const why = html`${sentenceOf(message)}${access.tokens.length === 0 ? nothing : other}`;
    return say(request, reply, status, "This page is not for you.", why);
  }

  return {
    /** Adds a page of a GET. Without identity a closed one leads to where one signs in. */
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
          const made = async (): Promise<MadePage> => make(request, await render(asked), tag);
          const key = `${tag} ${acceptsGzip(request)}`;
          return sendMade(reply, await (wantsPart(request) ? shared(key, made) : made()));
        },
      }),
    /**
     * Adds what a form of a page does, and what asks for it in a dialog [nothing does]. Who may not is led to where one
     * signs in, or told why that does not help; why it could not be done is said in a dialog.
     */
    addAct: <Path extends string>(
      server: FastifyInstance,
      path: Path,
      access: Access,
      {
        ask,
        perform,
        mostBytes = mostFormBytes,
      }: {
        /** `problem`: why it was not done; empty: it was not tried. */
        readonly ask?: (asked: PageAsked<Path>, problem: string) => ActAnswer | Promise<ActAnswer>;
        readonly perform: (asked: PageAsked<Path>) => Promise<ActAnswer>;
        /** Of its form [16 KiB]. */
        readonly mostBytes?: number;
      },
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
                ? refusedDialog(error, pathOf(request.url))
                : await ask(filled, sentenceOf(error.issues.join("; ") || error.message));
            answer = { ...again, status: error.code === "invalid_data" ? 422 : error.httpStatus };
          } finally {
            // Who has done it reads the page again, and sees it.
            acts++;
          }
          return answerAct(request, reply, answer);
        },
      });
    },
    refuse,
    /** Answers what went wrong, as a page where a browser asks for one; a 500 says nothing of the inside. */
    fail: (error: unknown, request: FastifyRequest, reply: FastifyReply): unknown => {
      const { method, url } = request;
      // What could not be read has no version.
      reply.removeHeader("etag");
      // Fastify closes after a body that it refused, which can cost the client the answer: the rest is read and dropped instead.
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
    /** Answers what no route does. */
    miss: (request: FastifyRequest, reply: FastifyReply): unknown => {
      const access = request.url.startsWith("/-/") ? "open" : "public";
      // Where reading is closed, the answer does not show what exists.
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

/** Returns whether something is a mistake of whoever asked. */
export function isMistake(error: unknown): error is FlatlineError {
  return error instanceof FlatlineError && error.fault !== "bug" && storeReason(error) === null;
}

/** Returns the dialog that says why an act was not done. */
function refusedDialog({ message, issues }: FlatlineError, path: string): ActAnswer {
  const content = html`<p>${sentenceOf(message)}</p>
    ${issues.length === 0 ? nothing : html`<pre>${issues.join("\n")}</pre>`}`;
  const back = path.slice(0, path.lastIndexOf("/"));
  const main = renderDialog({ action: null, title: "Nothing was changed.", content, foot: "", back });
  return { isDialog: true, title: "flatline", current: null, main };
}

/** Returns a page that says that something is not there. */
export function missing(current: PageContent["current"], ...words: Parameters<typeof renderMessage>): PageContent {
  return { status: 404, title: "Not found · flatline", current, main: renderMessage(...words) };
}

/** A header has bytes of one kind only. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
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

/** Returns the page that says that no such incident is known. */
export function missingIncident(reference: string): PageContent {
  const text = html`Nothing is known of «${reference}». <a href="/incidents">All incidents</a>`;
  return missing("incidents", "There is no such incident.", text);
}
