import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";

import { type ByteBudget, receiveBody } from "../base/request-body.ts";
import { encodeAnswer, type RowOf } from "../contract/v1/answer.ts";
import { refusalOf, sendRefusal, type Refusal, type Requirement, type AccessSettings } from "./access/admission.ts";
import { readInput, hasBody, mediaTypeOf } from "./input.ts";
import { pathOf, sendProblem } from "./answer.ts";

/** The context that all routes of a server share. */
export interface RouteContext {
  readonly access: () => AccessSettings;
  /** The memory for all bodies. */
  readonly bodies: ByteBudget;
  /** Answers a refused request. */
  readonly refuse: (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => unknown;
}

declare module "fastify" {
  interface FastifyInstance {
    readonly routes: RouteContext;
    /** All routes, in the order of their addition. */
    readonly operations: Operation[];
  }
}

type AnswerSchema = z.ZodType | "text/markdown";

/** A route in the API's description (CONTRACT 8). */
export interface Described {
  /** Absent: it is not in the description. */
  readonly says?: string;
  /** Absent: it has no body. */
  readonly answer?: AnswerSchema;
  /** Default: 200, or 204 without an answer. */
  readonly status?: number;
  /** The schema of a body that the handler reads itself; default: `body`. */
  readonly bodySays?: z.ZodType;
}

/** A parsed request. */
export interface Asked<Path extends string, Query, Body> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly params: ParamsOf<Path>;
  readonly query: Query;
  /** The raw query. */
  readonly search: URLSearchParams;
  readonly body: Body;
  /** Whether the caller may see names, reasons, findings of the review queue and receivers' answers. */
  readonly withDetails: boolean;
}

type ParamsOf<Path extends string> = Path extends `${infer Head}/${infer Rest}`
  ? ParamsOf<Head> & ParamsOf<Rest>
  : Path extends `:${infer Name}`
    ? { readonly [Key in Name]: string }
    : Path extends "*"
      ? { readonly "*": string }
      : unknown;

/** A route with its access and its schemas. Bodies are JSON; an empty one is `{}`. */
export interface Route<Path extends string, Query, Body, Answer extends AnswerSchema> extends Requirement, Described {
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  readonly answer?: Answer;
  /** Returns the row of the answer; without an answer's schema, the payload. */
  readonly handle: (asked: Asked<Path, Query, Body>) => Answer extends z.ZodType ? Handled<RowOf<Answer>> : unknown;
}

/** null: it has answered. */
type Handled<Row> = Row | FastifyReply | Promise<Row | FastifyReply | null>;

export type Operation = Described &
  Pick<Route<string, unknown, unknown, AnswerSchema>, "access" | "query" | "body"> & {
    readonly method: string;
    readonly url: string;
  };

// CONTRACT 8; events, fixtures and hooks have other limits.
const mostJsonBytes = 1_024 * 1_024;

/** Adds a route; a GET also answers HEAD. */
export function addRoute<
  Path extends `${"GET" | "POST" | "PATCH" | "DELETE"} ${string}`,
  Query,
  Body,
  Answer extends AnswerSchema,
>(server: FastifyInstance, path: Path, { handle, ...route }: Route<Path, Query, Body, Answer>): void {
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
        // Many HTTP clients send no type.
        if (hasBody(request) && !["", "application/json"].includes(mediaTypeOf(request)))
          return sendProblem(reply, 415, "a body is JSON here: application/json");
        const limits = { mostBytes: mostJsonBytes, budget: bodies };
        const text = hasBody(request) ? (await receiveBody(request.raw, reply.raw, limits)).toString() : "";
        body = readInput(bodySchema, text === "" ? {} : await parseJson(request, text));
      }
      const withDetails = request.identity?.rights.has("read") ?? false;
      const given: unknown = handle({
        request,
        reply: reply.code(status),
        params: request.params as ParamsOf<Path>,
        query: querySchema && readInput(querySchema, request.query),
        search: new URLSearchParams(/\?(.*)/.exec(request.url)?.[1]),
        body,
        withDetails,
      } as Asked<Path, Query, Body>);
      const row = await given;
      if (typeof answer !== "object") return row;
      // A handler that answers itself, as a CSV, gives none.
      return row === null || row === undefined || reply.sent ? undefined : encodeAnswer(answer, row, withDetails);
    },
  });
}

/** Answers 405 with `Allow` for a known path with another method, before it reads the body. */
export function refuseOtherMethods(server: FastifyInstance): void {
  server.addHook("onRequest", (request, reply, done) => {
    const found = request.is404 ? server.operations.filter(({ url }) => isAt(url, pathOf(request.url))) : [];
    if (found.length === 0) return done();
    const isOpen = found.some(({ access }) => access === "open");
    const refusal = refusalOf(request, { access: isOpen ? "open" : "public" }, server.routes.access());
    if (refusal !== null) return void sendRefusal(reply, refusal);
    const allowed = found.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    sendProblem(reply.header("allow", allowed), 405, `only ${allowed} here`);
  });
}

/** Returns whether a path matches a route: `:name` stands for one segment, `*` for the rest. */
function isAt(url: string, path: string): boolean {
  const parts = url.split("/");
  const segments = path.split("/");
  const hasEnough = parts.at(-1) === "*" ? segments.length >= parts.length : segments.length === parts.length;
  return hasEnough && parts.every((part, index) => /^[:*]/.test(part) || part === segments[index]);
}

/** Leaves all bodies unread; Node.js drops a body after the answer if no route reads it. */
export function leaveBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (_request, _payload, done) => done(null, undefined));
}
