import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { FlatlineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { secondMs } from "../../base/time.ts";
import { escapeUnseen } from "../../base/unseen-text.ts";
import { isAuthorized, refuse } from "../access.ts";
import { readOrganization } from "./organization/model.ts";
import { sendText } from "./answer.ts";
import { createPageEvents } from "./change-stream.ts";
import { readPageModel, type PageModel, type PageModelPorts } from "./overview/overview-model.ts";
import { operatorPages } from "./operator.ts";
import { countOf, formatLength } from "./parts/figures.ts";
import { overviewTitle, renderCounters, renderVerdict, worstOf } from "./overview/fleet.ts";
import { html, nothing, type Html } from "./parts/html.ts";
import { renderDocument, renderMessage, type PageFrame } from "./parts/layout.ts";
import { organizationTitle, renderOrganization } from "./organization/organization.ts";
import { readQuery, selectRows, shownSeverity } from "./overview/row.ts";
import { pageSize, renderTable } from "./overview/table.ts";
import type { AccessSettings, ConfigurationPort, SilencesPort } from "../ports.ts";
import { createErrorHandler, pathOf, sendProblem } from "../problem.ts";
import { addResource } from "../resource.ts";

export interface PageRoutesOptions extends PageModelPorts {
  readonly version: string;
  readonly logger: Logger;
  /** Of the page, open at once. */
  readonly mostStreams: number;
  readonly silences: SilencesPort;
  readonly configuration: ConfigurationPort;
}

// Who reloads twice within a second sees the same.
const freshMs = secondMs;
// Pages are closed every now and then.
const retryAfterSeconds = 10;
const queueTimeoutMs = 15 * secondMs;

/** What an operator's page is made of. */
export interface OperatorPage {
  readonly title: string;
  readonly main: Html;
}

/** The pages and what keeps them live (CONTRACT 8: `/`, `/o/…` and `/events` are public, the others need the token). */
export function addPageRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  options: PageRoutesOptions,
): void {
  const { clock, page, logger } = options;
  let cached: { readonly atMs: number; readonly model: Promise<PageModel> } | null = null;

  function readModel(): Promise<PageModel> {
    if (cached !== null && clock.monotonicMs() - cached.atMs < freshMs) return cached.model;
    const model = readPageModel(options);
    cached = { atMs: clock.monotonicMs(), model };
    model.catch(() => (cached = null));
    return model;
  }
  // What was changed by the reader is seen at once by the reader.
  const forget = page.subscribe(() => (cached = null));
  const events = createPageEvents({
    clock,
    access: settings,
    mostReaders: options.mostStreams,
    read: readModel,
    subscribe: (listener) => page.subscribe(listener),
    onError: (error) => logger.warn({ err: error }, "page could not be kept live"),
  });
  scope.addHook("preClose", (done) => {
    forget();
    events.close();
    done();
  });

  function frame(
    model: PageModel,
    changes: Pick<PageFrame, "title" | "current" | "main"> & Partial<PageFrame>,
  ): string {
    return renderDocument({
      severity: worstOf(model.rows),
      fleet: model.fleet,
      storeProblem: model.storeProblem,
      deadLetters: model.deadLetters,
      queued: model.queued,
      nowMs: model.nowMs,
      version: options.version,
      footer: footerOf(model, page.source()),
      hasToken: settings().token !== null,
      scripts: ["web/client/main.js"],
      showsVerdict: true,
      ...changes,
    });
  }

  addResource(scope, "/", settings, {
    GET: {
      access: "public",
      handle: async (request, reply) => {
        const model = await readModel();
        const params = paramsOf(request);
        const query = readQuery(params);
        const found = selectRows(model.rows, query);
        const pages = Math.max(1, Math.ceil(found.length / pageSize));
        const number = Math.min(Math.max(1, Math.trunc(Number(params.get("page") ?? 1)) || 1), pages);
        const { nowMs, rows, fleet } = model;
        const main = html`<div id="verdict-part">${renderVerdict(rows, fleet, nowMs)}</div>
          <div id="counters">${rows.length === 0 ? nothing : renderCounters(rows, query)}</div>
          ${renderTable(rows, found, query, number, nowMs)}`;
        const text = frame(model, {
          title: overviewTitle(rows, fleet),
          current: "organizations",
          main,
          showsVerdict: false,
        });
        return sendText(request, reply, "text/html", text);
      },
    },
  });

  addResource(scope, "/rows.json", settings, {
    GET: {
      access: "public",
      handle: async (request, reply) => {
        const { nowMs, rows, fleet, storeProblem, deadLetters, queued } = await readModel();
        return sendText(
          request,
          reply,
          "application/json",
          escapeUnseen(JSON.stringify({ nowMs, rows, fleet, storeProblem, deadLetters, queued })),
        );
      },
    },
  });

  addResource(scope, "/o/:slug", settings, {
    GET: {
      access: "public",
      handle: async (request, reply) => {
        const { slug } = request.params as { readonly slug: string };
        const model = await readModel();
        const ask = { slug, params: paramsOf(request), hasToken: settings().token !== null };
        const data = await readOrganization(options, model, ask);
        if (data === null) {
          const main = renderMessage(
            "No such organization is configured.",
            html`Nobody checks «${slug}». <a href="/">All organizations</a>`,
          );
          void reply.code(404);
          return sendText(
            request,
            reply,
            "text/html",
            frame(model, { title: "flatline", current: "organizations", main }),
          );
        }
        const text = frame(model, {
          title: organizationTitle(data.row),
          current: "organizations",
          severity: shownSeverity(data.row),
          main: renderOrganization(data),
          scripts: ["uplot.js", "web/client/main.js"],
          data: { chart: data.chart },
          showsVerdict: false,
        });
        return sendText(request, reply, "text/html", text);
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
        events.add(reply.raw);
        return reply;
      },
    },
  });

  const read = (): AbortSignal => clock.timeout(queueTimeoutMs);
  for (const [path, current, render] of operatorPages(options, read)) {
    scope.route({
      method: "GET",
      url: path,
      config: { access: "read" },
      onRequest: (request, reply, done) => {
        if (wantsHtml(request) && !isAuthorized(request, settings())) void refusePage(request, reply);
        else if (!refuse(request, reply, "read", settings())) done();
      },
      handler: async (request, reply) => {
        const [model, made] = await Promise.all([readModel(), render()]);
        return sendText(request, reply, "text/html", frame(model, { title: made.title, current, main: made.main }));
      },
    });
  }

  /** The same refusal as the API's, in words that somebody with a browser can use. */
  async function refusePage(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { token } = settings();
    const hasToken = token !== null;
    // A script that asks for the part of a page has a dialog of its own: a browser's would come on top of it.
    const isScript = request.headers["x-requested-with"] === "flatline";
    void reply.code(hasToken ? 401 : 403);
    if (hasToken && !isScript)
      void reply.header("www-authenticate", ['Bearer realm="flatline"', 'Basic realm="flatline", charset="UTF-8"']);
    const { publicRead } = settings();
    // A browser without scripts asks by itself, for a name and a password.
    const asked = ", given as the password with any name";
    const text = hasToken
      ? html`It is <code>server.token</code> of the
          configuration${publicRead ? html`<noscript>${asked}</noscript>` : asked}.`
      : html`None is configured: set <code>server.token</code> in flatline.yaml, then reload.`;
    const button =
      hasToken && publicRead
        ? html`<p class="actions"><button type="button" data-do="token">Give the token</button></p>`
        : nothing;
    const main = html`${renderMessage("This page needs the token.", text)}${button}`;
    const path = pathOf(request.url);
    const current = path === "/receivers" ? "receivers" : path === "/queue" ? "queue" : "config";
    const page = publicRead
      ? frame(await readModel(), { title: "flatline", current, main })
      : bareDocument(current, main, null);
    await sendText(request, reply, "text/html", page);
  }

  /** A page that shows nothing of the fleet. */
  function bareDocument(current: PageFrame["current"], main: Html, storeProblem: string | null): string {
    return renderDocument({
      title: "flatline",
      current,
      severity: "unknown",
      fleet: null,
      storeProblem,
      deadLetters: 0,
      queued: 0,
      nowMs: clock.nowMs(),
      version: options.version,
      footer: "",
      hasToken: settings().token !== null,
      scripts: [],
      main,
      showsVerdict: false,
    });
  }

  const handleError = createErrorHandler(logger);
  scope.setErrorHandler((error, request, reply) => {
    const isStore = error instanceof FlatlineError && /^store_(?:unusable|busy)$/.test(error.code);
    if (!isStore || !wantsHtml(request)) return handleError(error, request, reply);
    logger.error({ err: error, path: pathOf(request.url) }, "a page could not be read from the store");
    const main = renderMessage(
      "flatline cannot read its store.",
      html`What is known is not shown here as long as that lasts; flatline's log says more. <a href="">Try again</a>`,
    );
    void reply.code(503).header("retry-after", "5");
    return sendText(request, reply, "text/html", bareDocument("organizations", main, page.storeProblem()));
  });
}

function paramsOf(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : request.url.slice(at + 1));
}

function wantsHtml(request: FastifyRequest): boolean {
  return (request.headers.accept ?? "").includes("text/html");
}

function footerOf({ checks, late, spacing }: PageModel, source: string): string {
  const every = spacing === null ? "" : `${spacing.isOfAll ? "" : ", most"} every ${formatLength(spacing.intervalMs)}`;
  return `source ${source} · ${countOf(checks, "check")}${every}, ${late} late`;
}
