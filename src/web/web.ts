import type { AddressInfo, Socket } from "node:net";
import {
  fastify,
  type FastifyInstance,
  type FastifyPluginAsync,
  type InjectOptions,
  type onRequestHookHandler,
} from "fastify";

import { createByteBudget, type ByteBudget } from "../base/request-body.ts";
import { FlatlineError, systemCodeOf } from "../base/errors.ts";
import { decoded, isLoopbackHost } from "../base/url.ts";
import { secondMs } from "../base/time.ts";
import { escapeUnseen } from "../base/outside-text.ts";
import { addDeadAssetRoutes } from "./api/dead-asset-routes.ts";
import { addAlertRoutes } from "./api/alert-routes.ts";
import { addCheckRoutes } from "./api/check-routes.ts";
import { addEventRoutes } from "./api/event-routes.ts";
import { addForgetRoutes } from "./api/forget-routes.ts";
import { addGateRoutes } from "./api/gate-routes.ts";
import { addHookRoutes } from "./api/hook-routes.ts";
import { addIncidentRoutes } from "./api/incident-routes.ts";
import { refuseForeignHost, addBasePath, basePathOf, withoutBasePath } from "./own-address.ts";
import { addEmbeddedRoutes } from "./api/embedded-routes.ts";
import { addMarkerRoutes } from "./api/marker-routes.ts";
import { addMetricsRoutes } from "./api/metrics-routes.ts";
import { addStatusRoute } from "./api/status-routes.ts";
import { addOpenApiRoute } from "./api/openapi-routes.ts";
import { addOperatorRoutes } from "./api/operator-routes.ts";
import { addPageAssets } from "./assets.ts";
import { addDocsPages } from "./pages/docs.ts";
import type { NoteFailure } from "./access/failures.ts";
import { comesFrom } from "./access/proxy.ts";
import { createSessions } from "./access/sessions.ts";
import type { AccessSettings } from "./access/admission.ts";
import { addLinkRoutes } from "./pages/link.ts";
import { createIncidentReading } from "./read/incidents.ts";
import type { DaemonParts, WebParts } from "./parts.ts";
import { addIncidentPages } from "./pages/incidents/routes.ts";
import { addOrganizationPages } from "./pages/organization/routes.ts";
import { addOverviewPage } from "./pages/overview/routes.ts";
import { addOperatorPages } from "./pages/operator/routes.ts";
import { createSite } from "./pages/site.ts";
import { answerClientError, pathOf, securityHeaders, sendProblem } from "./answer.ts";
import { addSilenceRoutes } from "./api/silence-routes.ts";
import { addSignInRoutes } from "./sign-in.ts";
import { leaveBodies, refuseOtherMethods } from "./route.ts";

export interface WebOptions extends DaemonParts {
  /** Until it is true, all paths but `/-/healthy` answer 503. Default: true. */
  readonly isStarted?: () => boolean;
  readonly access: () => AccessSettings;
  readonly noteFailure?: NoteFailure;
  /** Registered under /api/v2, with their own authentication and 404; they share the memory for bodies. */
  readonly plugins?: (bodies: ByteBudget) => readonly FastifyPluginAsync[];
  /** Default: 4,096. */
  readonly mostConnections?: number;
  readonly timeouts?: Readonly<typeof defaultWebTimeouts>;
  /** Default: a socket. */
  readonly transport?: WebTransport;
}

/** Makes the server listen; returns its address. */
export type WebTransport = (
  server: FastifyInstance,
  at: { readonly host: string; readonly port: number },
) => Promise<AddressInfo>;

const onSocket: WebTransport = async (server, at) => {
  await server.listen(at);
  return server.server.address() as AddressInfo;
};

/** How long a client may take, milliseconds. */
const defaultWebTimeouts = {
  /** The head of a request. */
  headersMs: 10 * secondMs,
  /** A whole request: 16 MiB of events on a slow line take minutes. */
  requestMs: 120 * secondMs,
  /** Between two requests: Prometheus scrapes about every minute. */
  keepAliveMs: 75 * secondMs,
  /** Until a client takes any part of an answer. */
  answerMs: 10 * secondMs,
  /** The interval of the check for slow clients. */
  checkMs: 2 * secondMs,
};

const mebibyte = 1_024 * 1_024;
// All bodies in memory, for a container of 1 GiB: two of the largest posts of events.
const mostBodyBytes = 64 * mebibyte;
// Honest clients read answers before they send so many requests.
const mostInTurn = 100;
// Slugs may be long; Node.js refuses a longer head itself.
const maxParamLength = 16 * 1_024;
const defaultGraceMs = secondMs;

export interface WebAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/** Creates the HTTP server of the daemon (CONTRACT 6 and 8). */
export function createWeb(options: WebOptions) {
  let listenHost = "";
  let isLoopback = false;
  const { clock } = options.running;
  const { server, sessions } = createServer(options, (host) =>
    isLoopback ? refuseForeignHost(host, { listenHost, externalUrl: options.access().externalUrl }) : null,
  );
  return {
    /** Listens at a checked `server.listen`; port 0 takes a free port. @throws FlatlineError unavailable */
    listen: async (listen: string): Promise<WebAddress> => {
      listenHost = hostOf(listen);
      isLoopback = isLoopbackHost(listenHost);
      const address = await bindServer(server, listen, options.transport);
      // A name may resolve to a loopback address.
      isLoopback = isLoopbackHost(new URL(address.url).hostname);
      return address;
    },
    /** To be called after a reload. */
    endStaleSessions: () => sessions.endStale(),
    /** Answers a request of this process, without a connection. */
    inject: async (request: InjectOptions): Promise<{ readonly statusCode: number; readonly payload: string }> =>
      server.inject(request),
    /** Stops listening; closes idle connections now and the others after `graceMs` (default: 1 s). Never rejects. */
    close: async (graceMs = defaultGraceMs): Promise<void> => {
      const closed = new AbortController();
      const forced = clock.sleep(graceMs, closed.signal).then(() => server.server.closeAllConnections());
      await server.close();
      closed.abort();
      await forced;
    },
  };
}

export type Web = ReturnType<typeof createWeb>;

/** Returns the host, which may contain colons. */
function hostOf(listen: string): string {
  return listen.slice(0, listen.lastIndexOf(":"));
}

/** Listens at a checked `server.listen`. @throws FlatlineError unavailable */
export async function bindServer(
  server: FastifyInstance,
  listen: string,
  transport: WebTransport = onSocket,
): Promise<WebAddress> {
  // An IPv6 address has brackets before its port.
  const at = {
    host: hostOf(listen).replace(/^\[(.*)\]$/, "$1"),
    port: Number(listen.slice(listen.lastIndexOf(":") + 1)),
  };
  try {
    const { address: host, family, port } = await transport(server, at);
    return { host, port, url: `http://${family === "IPv6" ? `[${host}]` : host}:${port}` };
  } catch (error) {
    const message = `cannot listen on ${listen}: ${describeListenError(error)}`;
    throw new FlatlineError("unavailable", message, { cause: error });
  }
}

function describeListenError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: "the port is taken: is another flatline running? `ss -ltnp` names it",
    EADDRNOTAVAIL: "this machine has no such address",
    EACCES: "this user may not listen on this port",
  };
  return reasons[systemCodeOf(error)] ?? error.message;
}

/** Escapes a path that cannot be decoded, so that it gets the same authentication and the same 404. */
function decodableUrl(url: string): string {
  const path = pathOf(url);
  const isDecodable = !path.includes("%") || decoded(path) !== path;
  return isDecodable ? url : path.replaceAll("%", "%25") + url.slice(path.length);
}

const noProxy: readonly string[] = [];

function refuseSchema(): never {
  throw new FlatlineError("internal", "a route has a JSON schema");
}

/** Replaces Fastify's JSON schema compilers, which the build leaves out: zod parses all input. */
export const noSchemas = { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } };

/** Starts a connection's requests one by one: Node.js starts pipelined ones together and buffers their answers. */
function createTurns(): onRequestHookHandler {
  const lines = new WeakMap<Socket, (() => void)[]>();
  return ({ raw: { socket } }, { raw: response }, done) => {
    const line = lines.get(socket) ?? [];
    lines.set(socket, line);
    if (line.length >= mostInTurn) {
      socket.destroy();
      return;
    }
    line.push(done);
    response.on("close", () => {
      line.shift();
      if (!socket.destroyed) line[0]?.();
    });
    if (line.length === 1) done();
  };
}

/** Ends a connection whose client takes nothing; a slow handler may go on. */
function endIfStuck(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** `refusalOf` returns the refusal of a `Host` header; null: it is allowed. */
function createServer(options: WebOptions, refusalOf: (host: string | undefined) => string | null) {
  const { access, running, plugins, timeouts = defaultWebTimeouts, mostConnections = 4_096 } = options;
  const { isStarted = () => true } = options;
  const onError = (error: unknown): void => running.logger.error({ err: error }, "an answer could not be written");
  const bodies = createByteBudget(mostBodyBytes);
  const sessions = createSessions(running, access);
  const site = createSite(options, access);
  const server: FastifyInstance = fastify({
    logger: false,
    rewriteUrl: (request) => decodableUrl(withoutBasePath(basePathOf(access().externalUrl), request.url ?? "/")),
    // CONTRACT 13: `request.ip` is the last address of X-Forwarded-For that is not the proxy's.
    trustProxy: (address) => comesFrom(address, access().trustedProxy?.from ?? noProxy),
    routerOptions: { maxParamLength },
    schemaController: noSchemas,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionTimeout: timeouts.answerMs,
    http: { headersTimeout: timeouts.headersMs, connectionsCheckingInterval: timeouts.checkMs },
    forceCloseConnections: "idle",
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, _request, reply) => {
      void reply.headers(securityHeaders);
      void sendProblem(reply, error.statusCode ?? 400, error.message);
    },
  });
  server.server.maxConnections = mostConnections;
  server.addHook("onRequest", createTurns());
  server.addHook("onRequest", ({ headers, url }, reply, done) => {
    // Routes may replace these.
    reply.headers(securityHeaders);
    // Otherwise an error of one answer would end the process.
    reply.raw.on("error", onError);
    reply.raw.on("timeout", endIfStuck);
    const foreign = refusalOf(headers.host);
    if (foreign !== null) sendProblem(reply.header("connection", "close"), 421, foreign);
    else if (!isStarted() && pathOf(url) !== "/-/healthy")
      sendProblem(reply.headers({ connection: "close", "retry-after": "1" }), 503, "flatline is starting");
    else done();
  });
  server.setReplySerializer((payload) => escapeUnseen(JSON.stringify(payload)));
  // The hooks of these routes are not those of the plugins, which have many requests.
  void server.register(async (scope) => {
    scope.decorateRequest("identity", null);
    scope.decorateRequest("failedVia", null);
    scope.addHook("onResponse", (request, _reply, done) => {
      if (request.failedVia !== null) options.noteFailure?.(request.failedVia, request.ip);
      done();
    });
    addBasePath(scope, () => access().externalUrl);
    sessions.addTo(scope);
    scope.decorate("routes", { access, bodies, refuse: site.refuse });
    scope.decorate("operations", []);
    refuseOtherMethods(scope);
    // Otherwise Fastify reads 1 MiB of JSON even for an unknown path.
    leaveBodies(scope);
    scope.setErrorHandler(site.fail);
    scope.setNotFoundHandler((request, reply) => site.miss(request, reply));
    const incidents = createIncidentReading(running);
    for (const addRoutes of allRoutes) addRoutes(scope, { ...options, bodies, sessions, site, incidents });
  });
  for (const plugin of plugins?.(bodies) ?? []) void server.register(plugin, { prefix: "/api/v2" });
  return { server, sessions };
}

const allRoutes: readonly ((server: FastifyInstance, parts: WebParts) => void)[] = [
  addMetricsRoutes,
  addCheckRoutes,
  addAlertRoutes,
  addIncidentRoutes,
  addDeadAssetRoutes,
  addSilenceRoutes,
  addMarkerRoutes,
  addEmbeddedRoutes,
  addForgetRoutes,
  addGateRoutes,
  addHookRoutes,
  addSignInRoutes,
  addEventRoutes,
  addOpenApiRoute,
  addOperatorRoutes,
  addPageAssets,
  addDocsPages,
  addLinkRoutes,
  addOperatorPages,
  addIncidentPages,
  addOrganizationPages,
  addStatusRoute,
  addOverviewPage,
];
