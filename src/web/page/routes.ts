import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { storeReason } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { secondMs } from "../../base/time.ts";
import { escapeUnseen } from "../../base/unseen-text.ts";
import type { PlaceList, Place } from "../../contract/v1/places.ts";
import { refusalOf, sendRefusal } from "../access/admission.ts";
import { scopeOf } from "../access/identity.ts";
import { sendText } from "./answer.ts";
import { createPageEvents } from "./change-stream.ts";
import { readPageModel, type PageModel, type DetailPorts } from "./overview/overview-model.ts";
import { operatorPages } from "./operator.ts";
import { html, type Html } from "../parts/html.ts";
import { renderMessage, type PageKey, pages } from "./parts/layout.ts";
import { createDocuments } from "./documents.ts";
import { wantsHtml } from "../sign-in/lead.ts";
import { answerClosed } from "./closed.ts";
import { shownSeverity, organizationPath } from "./overview/row.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { UnwatchedPort } from "../ports/events.ts";
import type { SilencesPort } from "../ports/silences.ts";
import { createErrorHandler, describeError, pathOf, sendProblem } from "../problem.ts";
import { addResource } from "../resource.ts";
import type { PageOrganization } from "./ports.ts";

export interface PageRoutesOptions extends DetailPorts {
  readonly version: string;
  readonly logger: Logger;
  /** How many pages may be live at once. */
  readonly mostStreams: number;
  readonly silences: SilencesPort;
  readonly unwatched: UnwatchedPort;
}

// Who reloads twice within a second sees the same.
const freshMs = secondMs;
// Tokens differ in what they are for, and some are for the same.
const mostScopes = 100;
// Pages are closed every now and then.
const retryAfterSeconds = 10;
const queueTimeoutMs = 15 * secondMs;

/** What an operator's page is made of. */
export interface OperatorPage {
  readonly title: string;
  readonly main: Html;
}

/** Registers the pages and what keeps them live (CONTRACT 8: `/`, `/o/…` and `/events` are public, the others need the token). */
export function addPageRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  options: PageRoutesOptions,
): void {
  const { clock, page, logger } = options;
  /** By what those who asked may see. */
  const cached = new Map<string, { readonly atMs: number; readonly model: Promise<PageModel> }>();

  function readModel({ identity }: Pick<FastifyRequest, "identity">): Promise<PageModel> {
    const scope = scopeOf(identity);
    const known = cached.get(scope);
    if (known !== undefined && clock.monotonicMs() - known.atMs < freshMs) return known.model;
    if (cached.size >= mostScopes) cached.clear();
    const model = readPageModel(options, identity);
    cached.set(scope, { atMs: clock.monotonicMs(), model });
    model.catch(() => cached.delete(scope));
    return model;
  }
  // What was changed by the reader is seen at once by the reader.
  const forget = page.subscribe(() => cached.clear());
  const events = createPageEvents({
    clock,
    access: settings,
    mostReaders: options.mostStreams,
    read: (identity) => readModel({ identity }),
    subscribe: (listener) => page.subscribe(listener),
    onError: (error) => logger.warn({ err: error }, "page could not be kept live"),
  });
  scope.addHook("preClose", (done) => {
    forget();
    events.close();
    done();
  });

  const documents = createDocuments({ ...options, settings });
  const closed = { settings, documents, readModel };

  /** A page for a browser. */
  function addPage(
    path: string,
    access: "public" | "read",
    current: PageKey,
    handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): void {
    const isAboutAll = current === "receivers" || current === "config";
    addResource(scope, path, settings, { GET: { access, isAboutAll, handle } }, (request, reply, refusal) =>
      wantsHtml(request) ? answerClosed(request, reply, current, refusal, closed) : sendRefusal(reply, refusal),
    );
  }

  addResource(scope, "/places.json", settings, {
    GET: {
      access: "public",
      handle: async (request, reply) => {
        const places = listPlaces(await readModel(request), page.organizations());
        return sendText(
          request,
          reply,
          "application/json",
          escapeUnseen(JSON.stringify({ places } satisfies PlaceList)),
        );
      },
    },
  });

  addResource(scope, "/events", settings, {
    GET: {
      access: "public",
      handle: (request, reply) => {
        if (events.isFull()) {
          const message = `${options.mostStreams} pages are kept live, as many as there may be at once: this one is not`;
          // A connection that is kept would be one too many.
          return sendProblem(
            reply.headers({ "retry-after": String(retryAfterSeconds), connection: "close" }),
            503,
            message,
          );
        }
        void reply.header("content-type", "text/event-stream; charset=utf-8");
        if (request.method === "HEAD") return reply.send();
        reply.hijack();
        const headers = {
          "content-type": "text/event-stream; charset=utf-8",
          "cache-control": "no-store",
          "x-accel-buffering": "no",
          "x-content-type-options": "nosniff",
          connection: "close",
        };
        reply.raw.writeHead(200, headers);
        events.add(reply.raw, request.identity);
        return reply;
      },
    },
  });

  const read = (): AbortSignal => clock.timeout(queueTimeoutMs);
  for (const [path, current, render] of operatorPages(options, read)) {
    addPage(path, "read", current, async (request, reply) => {
      const [model, made] = await Promise.all([readModel(request), render(request)]);
      return sendText(
        request,
        reply,
        "text/html",
        documents.render(request, model, {
          current,
          isLive: path === "/receivers",
          ...made,
        }),
      );
    });
  }

  /** A page that is not there, in the frame of those that are. */
  async function sendMissing(
    request: FastifyRequest,
    reply: FastifyReply,
    current: PageKey | null,
    main: Html,
  ): Promise<FastifyReply> {
    void reply.code(404);
    const text = documents.render(request, await readModel(request), { title: "Not found · flatline", current, main });
    return sendText(request, reply, "text/html", text);
  }

  scope.setNotFoundHandler((request, reply) => {
    const isOurs = /^\/(?:-|api|metrics|probe|assets)(?:[/?]|$)/.test(request.url);
    const access = request.url.startsWith("/-/") ? "open" : "public";
    // Where reading is closed, the answer does not show what exists.
    const refusal = refusalOf(request, { access }, settings());
    if (refusal !== null && !isOurs && wantsHtml(request)) return answerClosed(request, reply, null, refusal, closed);
    if (refusal !== null) return sendRefusal(reply, refusal);
    if (isOurs || !wantsHtml(request)) return sendProblem(reply, 404, "no such path");
    const main = renderMessage("There is no page here.", html`<a href="/">All organizations</a>`);
    return sendMissing(request, reply, null, main);
  });

  /** What went wrong, as a page: what the API says in words. */
  function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { status, message } = describeError(error);
    if (status === 500)
      logger.error({ err: error, method: request.method, path: pathOf(request.url) }, "a request failed");
    const title = status === 500 ? "flatline could not make this page." : "This could not be answered.";
    const text = status === 500 ? "Its log says why." : `${message}.`;
    void reply.code(status);
    const main = renderMessage(title, html`${text} <a href="">Try again</a>`);
    return sendText(
      request,
      reply,
      "text/html",
      documents.renderBare(request, { current: null, main }, page.storeProblem()),
    );
  }

  const handleError = createErrorHandler(logger);
  scope.setErrorHandler((error, request, reply) => {
    if (!wantsHtml(request)) return handleError(error, request, reply);
    if (storeReason(error) === null) return sendFailure(error, request, reply);
    logger.error({ err: error, path: pathOf(request.url) }, "a page could not be read from the store");
    const main = renderMessage(
      "flatline cannot read its store.",
      html`What is known is not shown here as long as that lasts; flatline's log says more. <a href="">Try again</a>`,
    );
    void reply.code(503).header("retry-after", "5");
    return sendText(
      request,
      reply,
      "text/html",
      documents.renderBare(request, { current: "organizations", main }, page.storeProblem()),
    );
  });
}

/** Everything that the dialog *Go to* leads to: organizations, live alerts, pages, settings. */
function listPlaces(model: PageModel, organizations: readonly PageOrganization[]): Place[] {
  const alerts = [...model.snapshots.values(), ...[...model.others.values()].flat()].flatMap(
    ({ alerts: live }) => live,
  );
  const settings = new Set(organizations.flatMap((one) => one.settings.map(({ name }) => name)));
  return [
    ...model.rows.map((row): Place => ({
      name: row.slug,
      href: organizationPath(row.slug),
      kind: "organization",
      severity: shownSeverity(row),
      words: row.labels,
    })),
    ...alerts.map(({ id, slug, check, severity }): Place => ({
      name: slug,
      href: `/alerts/${encodeURIComponent(id)}`,
      kind: "alert",
      severity,
      words: [check, id],
    })),
    ...pages.map(({ name, href }): Place => ({ name, href, kind: "page", severity: null, words: [] })),
    ...[...settings].map((name): Place => ({
      name,
      href: `/config?q=${encodeURIComponent(name)}`,
      kind: "setting",
      severity: null,
      words: [],
    })),
  ];
}
