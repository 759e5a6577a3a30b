import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { isLoopbackHost } from "../base/loopback-host.ts";
import { memoized } from "../base/memo.ts";
import { problemBody, securityHeaders } from "./problem.ts";

/** How long a client may take, milliseconds. */
export interface WebTimeouts {
  /** For the head of a request. */
  readonly headersMs: number;
  /** For a whole request, its body included. */
  readonly requestMs: number;
  /** Between two requests on one connection. */
  readonly keepAliveMs: number;
  /** For any part of an answer to be taken. */
  readonly answerMs: number;
  /** How often slow ones are looked for. */
  readonly checkMs: number;
}

// A client that asks for more before it has taken an answer only wants to cost something.
const mostInTurn = 100;

export interface FrontOptions {
  readonly routes: RequestListener;
  readonly timeouts: WebTimeouts;
  /** How many connections may be open at once; the next one is closed. */
  readonly mostConnections: number;
  /** Looks at each request first: the refusal of one that must not be answered, null for all others. */
  readonly guard: (request: IncomingMessage) => FrontRefusal | null;
  /** Called with what went wrong with an answer. */
  readonly onError: (error: unknown) => void;
}

/** An answer given before any route sees the request. */
export interface FrontRefusal {
  readonly status: number;
  readonly message: string;
}

/** Creates the server under Fastify, with its limits; what the guard refuses never reaches a route. */
export function createHttpFront({ routes, timeouts, mostConnections, guard, onError }: FrontOptions): Server {
  const headers = Object.entries(securityHeaders).flat();
  const front = createServer({
    requestTimeout: timeouts.requestMs,
    headersTimeout: timeouts.headersMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
  });
  front.maxConnections = mostConnections;
  front.timeout = timeouts.answerMs;
  const answer: RequestListener = (request, response) => {
    // Without a listener, an error of one answer would end the process.
    response.on("error", onError);
    // What is still being worked on has time; an answer of which nothing is taken has not.
    response.on("timeout", (socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
    const refusal = guard(request);
    if (refusal !== null) return answerRefusal(response, refusal, headers);
    routes(request, response);
  };
  front.on("request", inTurn(answer));
  return front;
}

/** Begins with one request of a connection at a time: Node.js would begin with all that come in one piece, and keep every answer. */
function inTurn(begin: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, { waiting: number; last: Promise<unknown> }>();
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { waiting: 0, last: Promise.resolve() };
    lines.set(socket, line);
    if (line.waiting++ >= mostInTurn) socket.destroy();
    line.last = line.last.then(
      () =>
        new Promise<void>((resolve) => {
          if (socket.destroyed) return;
          response.once("close", () => {
            line.waiting--;
            resolve();
          });
          begin(request, response);
        }),
    );
  };
}

function answerRefusal(response: ServerResponse, { status, message }: FrontRefusal, headers: readonly string[]): void {
  const text = JSON.stringify(problemBody(status, message));
  const length = String(Buffer.byteLength(text));
  const retry = status === 503 ? ["retry-after", "1"] : [];
  // Its body, if it has one, is not read.
  const head = [...headers, ...retry, "connection", "close", "content-type", "application/json; charset=utf-8"];
  response.writeHead(status, [...head, "content-length", length]).end(text);
}

/** The names that a server on the loopback interface answers to, beside those of the interface itself. */
export interface ServedNames {
  /** As `server.listen` has it. */
  readonly listenHost: string;
  readonly externalUrl: string | null;
}

/**
 * Refuses a request to a server on the loopback interface that names another host: a page of a foreign site whose name was
 * made to resolve to 127.0.0.1 (DNS rebinding) could read everything otherwise. Browsers always name the host; a request
 * without one is not from a browser.
 */
export function refuseForeignHost(host: string | undefined, names: ServedNames): FrontRefusal | null {
  if (host === undefined) return null;
  const hostname = hostnameOf(host);
  const own = [hostnameOf(names.listenHost), hostnameOfUrl(names.externalUrl ?? "")];
  if (hostname !== null && /^[^@/?#\\]+$/.test(host) && (isLoopbackHost(hostname) || own.includes(hostname)))
    return null;
  const shown = JSON.stringify(host.slice(0, longestShown));
  return {
    status: 421,
    message: `flatline listens on this machine only and does not answer to the name ${shown}: use localhost or 127.0.0.1, or set alerting.externalUrl to the address that it is reached by`,
  };
}

// A name of DNS has at most 253 characters.
const longestShown = 253;

// Asked three times per request, always about the same few names.
const keptNames = 64;
const hostnameOfUrl = memoized(keptNames, (url: string) => URL.parse(url)?.hostname ?? null);
const hostnameOf = memoized(keptNames, (host: string) => hostnameOfUrl(`http://${host}`));
