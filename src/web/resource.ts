import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";

import { type ByteBudget, receiveBody } from "../base/request-body.ts";
import { admit, refusalOf, sendRefusal, type Refusal, type Requirement } from "./access/admission.ts";
import type { AccessSettings } from "./access/settings.ts";
import { pathOf, sendProblem } from "./problem.ts";

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** What the description of the API says of a method: the schemas of what it reads, and of its answer (CONTRACT 8). */
export interface Described {
  readonly says: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Absent: it answers without a body. */
  readonly answer?: z.ZodType | "text/markdown";
  /** [200, without an answer 204] */
  readonly status?: number;
}

/** What one method of a resource does, and for whom. */
export interface Method extends Requirement {
  readonly handle: Handler;
  readonly about?: Described;
}

/** A method of a server, as it is described. */
export type Operation = Pick<Method, "access" | "about"> & { readonly method: string; readonly url: string };

export type Methods = Partial<Record<"GET" | "POST" | "PATCH" | "DELETE", Method>>;

declare module "fastify" {
  interface FastifyInstance {
    /** Those of all resources, in the order in which they were added. */
    readonly operations: Operation[];
  }
}

/** Lets a server answer 405 with `Allow`, before the body is looked at, when a resource does not have the method. */
export function refuseOtherMethods(server: FastifyInstance, settings: () => AccessSettings): void {
  server.decorate("operations", []);
  server.addHook("onRequest", (request, reply, done) => {
    const found = request.is404 ? server.operations.filter(({ url }) => isAt(url, pathOf(request.url))) : [];
    if (found.length === 0) return done();
    const isOpen = found.some(({ access }) => access === "open");
    if (!admit(request, reply, { access: isOpen ? "open" : "public" }, settings())) return;
    const allowed = found.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    sendProblem(reply.header("allow", allowed), 405, `only ${allowed} here`);
  });
}

/** Returns whether a path is one of a route: `:name` stands for a segment of it, `*` for the rest. */
function isAt(url: string, path: string): boolean {
  const parts = url.split("/");
  const segments = path.split("/");
  const hasEnough = parts.at(-1) === "*" ? segments.length >= parts.length : segments.length === parts.length;
  return hasEnough && parts.every((part, index) => /^[:*]/.test(part) || part === segments[index]);
}

/** Adds one path with its methods (HEAD comes with GET). */
export function addResource(
  scope: FastifyInstance,
  url: string,
  settings: () => AccessSettings,
  methods: Methods,
  /** Answers one that is refused; what it throws is answered as what a handler throws. */
  answerRefusal: (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => unknown = (_, reply, refusal) =>
    sendRefusal(reply, refusal),
): void {
  for (const [method, { handle, about, ...requirement }] of Object.entries(methods)) {
    scope.operations.push({
      method,
      url: `${scope.prefix}${url}`,
      access: requirement.access,
      ...(about && { about }),
    });
    scope.route({
      method,
      url,
      onRequest: async (request, reply) => {
        const refusal = refusalOf(request, requirement, settings());
        if (refusal !== null) await answerRefusal(request, reply, refusal);
      },
      handler: async (request, reply) => handle(request, reply),
    });
  }
}

/** Lets the routes of a scope take any body and leave it unread: Node.js drops it after the answer, if no route reads it. */
export function leaveBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", leaveUnread);
}

function leaveUnread(_request: FastifyRequest, _payload: unknown, done: (error: null, body: undefined) => void): void {
  done(null, undefined);
}

// CONTRACT 8; events and hooks have limits of their own.
const mostJsonBytes = 1_024 * 1_024;

/** Lets the routes of a scope take JSON and nothing else (415); a body that does not say what it is, is taken for JSON. */
export function takeJsonBodies(scope: FastifyInstance, budget: ByteBudget): void {
  scope.addHook("onRequest", (request, _reply, done) => {
    const { headers } = request;
    // HTTP libraries that name no type by themselves are many, and there is nothing else that it could be.
    if (hasBody(request) && headers["content-type"] === undefined) headers["content-type"] = "application/json";
    done();
  });
  const parse = scope.getDefaultJsonParser("error", "error");
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("application/json", leaveUnread);
  // After the parser, whose place it takes: only a hook knows the answer, with which the memory of the body is given back.
  scope.addHook("preValidation", async (request, reply) => {
    if (!hasBody(request)) return;
    const text = (await receiveBody(request.raw, reply.raw, { mostBytes: mostJsonBytes, budget })).toString();
    // A DELETE has nothing to say, and many a client says all the same that it is JSON.
    if (text === "") return;
    request.body = await new Promise<unknown>((resolve, reject) => {
      void parse(request, text, (error, json) => (error === null ? resolve(json) : reject(error)));
    });
  });
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
