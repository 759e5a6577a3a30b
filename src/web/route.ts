import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";

import { type ByteBudget, receiveBody } from "../base/request-body.ts";
import { admit, refusalOf, type Refusal, type Requirement } from "./access/admission.ts";
import { seesDetails, type AccessSettings } from "./access/identity.ts";
import { readInput } from "./api/read-input.ts";
import { hasBody, mediaTypeOf } from "./body.ts";
import { pathOf, sendProblem } from "./problem.ts";

/** What the routes of a server share. */
export interface RouteContext {
  readonly access: () => AccessSettings;
  /** All bodies that are held take of it. */
  readonly bodies: ByteBudget;
  /** Answers who may not see or do something. */
  readonly refuse: (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => unknown;
}

declare module "fastify" {
  interface FastifyInstance {
    readonly routes: RouteContext;
    /** All that were added, in that order. */
    readonly operations: Operation[];
  }
}

/** What the description of the API says of a route (CONTRACT 8). */
export interface Described {
  /** Absent: it is none of the API. */
  readonly says?: string;
  /** Absent: it answers without a body. */
  readonly answer?: z.ZodType | "text/markdown";
  /** [200, without an answer 204] */
  readonly status?: number;
  /** What its body is, where its handler reads that itself [`body`]. */
  readonly bodySays?: z.ZodType;
}

/** A request, as the schemas of its route read it. */
export interface Asked<Path extends string, Query, Body> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly params: ParamsOf<Path>;
  readonly query: Query;
  /** The same as it came. */
  readonly search: URLSearchParams;
  readonly body: Body;
  /** Whether who asks may see what is not public. */
  readonly withDetails: boolean;
}

type ParamsOf<Path extends string> = Path extends `${infer Head}/${infer Rest}`
  ? ParamsOf<Head> & ParamsOf<Rest>
  : Path extends `:${infer Name}`
    ? { readonly [Key in Name]: string }
    : Path extends "*"
      ? { readonly "*": string }
      : unknown;

/** What a route does, for whom, and the schemas of what it reads: JSON, none of it when there is no body. */
export interface Route<Path extends string, Query, Body> extends Requirement, Described {
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  readonly handle: (asked: Asked<Path, Query, Body>) => unknown;
}

/** A route, as it is described. */
export type Operation = Described &
  Pick<Route<string, unknown, unknown>, "access" | "query" | "body"> & {
    readonly method: string;
    readonly url: string;
  };

// CONTRACT 8; events, fixtures and hooks have limits of their own.
const mostJsonBytes = 1_024 * 1_024;

/** Adds a route, `GET /path` (HEAD comes with it). */
export function addRoute<Path extends `${"GET" | "POST" | "PATCH" | "DELETE"} ${string}`, Query, Body>(
  server: FastifyInstance,
  path: Path,
  { handle, ...route }: Route<Path, Query, Body>,
): void {
  const [method = "", url = ""] = path.split(" ");
  const { access, bodies, refuse } = server.routes;
  const parse = server.getDefaultJsonParser("error", "error");
  const parseJson = (request: FastifyRequest, text: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      void parse(request, text, (error, json) => (error === null ? resolve(json) : reject(error)));
    });
  const { says, answer, status = says !== undefined && answer === undefined ? 204 : 200 } = route;
  server.operations.push({ method, url, ...route });
  server.route({
    method,
    url,
    onRequest: async (request, reply) => {
      const refusal = refusalOf(request, route, access());
      if (refusal !== null) await refuse(request, reply, refusal);
    },
    handler: async (request, reply) => {
      const { query: querySchema, body: bodySchema } = route;
      let body: unknown;
      if (bodySchema !== undefined) {
        // HTTP libraries that name no type by themselves are many, and there is nothing else that it could be.
        if (hasBody(request) && !["", "application/json"].includes(mediaTypeOf(request)))
          return sendProblem(reply, 415, "a body is JSON here: application/json");
        const limits = { mostBytes: mostJsonBytes, budget: bodies };
        const text = hasBody(request) ? (await receiveBody(request.raw, reply.raw, limits)).toString() : "";
        body = readInput(bodySchema, text === "" ? {} : await parseJson(request, text));
      }
      return handle({
        request,
        reply: reply.code(status),
        params: request.params as ParamsOf<Path>,
        query: querySchema && readInput(querySchema, request.query),
        search: new URLSearchParams(/\?(.*)/.exec(request.url)?.[1]),
        body,
        withDetails: seesDetails(request),
      } as Asked<Path, Query, Body>);
    },
  });
}

/** Lets a server answer 405 with `Allow`, before the body is looked at, when a path does not have the method. */
export function refuseOtherMethods(server: FastifyInstance): void {
  server.addHook("onRequest", (request, reply, done) => {
    const found = request.is404 ? server.operations.filter(({ url }) => isAt(url, pathOf(request.url))) : [];
    if (found.length === 0) return done();
    const isOpen = found.some(({ access }) => access === "open");
    if (!admit(request, reply, { access: isOpen ? "open" : "public" }, server.routes.access())) return;
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

/** Lets the routes of a server take any body and leave it unread: Node.js drops it after the answer, if no route reads it. */
export function leaveBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (_request, _payload, done) => done(null, undefined));
}
