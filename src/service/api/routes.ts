import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";

import { type ByteBudget, receiveBody } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { secondMs, type Clock } from "../../base/time.ts";
import { operations, type Operation } from "../../contract/operations.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import { parseReportsQuery } from "../../contract/report-schemas.ts";
import { parseReviewRequest } from "../../contract/review-body.ts";
import { sendError } from "./refusals.ts";
import type { KeyIdentity } from "../api-keys.ts";
import { openApiDocument } from "./openapi.ts";
import { spikeRequestSchema } from "../../contract/healthcheck-schemas.ts";
import { issueMessages, readWith } from "../../contract/issues.ts";

export interface ApiV2Options {
  /** Returns the holder of a key; null: unknown or revoked. */
  readonly authenticate: (apiKey: string) => Promise<KeyIdentity | null>;
  /** Returns API v2 for the holder of a key. */
  readonly apiFor: (identity: KeyIdentity) => PlatformApi;
  /** Called for every request before it is answered; `operation` is `other` for unknown paths. */
  readonly onRequest: (operation: string, code: string) => void;
  /** Called with the client's address for each request with an unknown key [it is not]. */
  readonly onWrongKey?: (address: string) => void;
  readonly bodies: ByteBudget;
  readonly clock: Pick<Clock, "deadline">;
  readonly logger: Logger;
}

declare module "fastify" {
  interface FastifyContextConfig {
    readonly operation?: string;
  }

  interface FastifyRequest {
    /** The holder of the request's key; null: the key was not checked yet. */
    keyIdentity: KeyIdentity | null;
  }
}

/** Far longer than the slowest page of a large store. */
const readTimeoutMs = 30 * secondMs;

/**
 * Serves any PlatformApi under `/api/v2` (CONTRACT 9). Checks the key first, also for unknown paths; every error has
 * the API's error body.
 */
export function apiV2Routes(options: ApiV2Options): FastifyPluginAsync {
  const { authenticate, apiFor, onRequest, onWrongKey, bodies, clock, logger } = options;

  function apiOf({ keyIdentity }: FastifyRequest): PlatformApi {
    if (keyIdentity === null) throw new FlatlineError("internal", "an operation was called without a key");
    return apiFor(keyIdentity);
  }

  return async (scope) => {
    scope.decorateRequest("keyIdentity", null);
    scope.addHook("onRequest", async (request) => {
      // Fastify rejects an invalid media type before it looks for a parser.
      request.headers["content-type"] = undefined;
      const apiKey = apiKeyOf(request.raw.rawHeaders);
      request.keyIdentity = apiKey === null ? null : await authenticate(apiKey);
      if (request.keyIdentity !== null) return;
      if (request.headers["x-api-key"] !== undefined) onWrongKey?.(request.ip);
      throw new FlatlineError("api_unauthorized", "a valid X-API-KEY header is required");
    });
    scope.addHook("onSend", (request, reply, payload, done) => {
      onRequest(request.routeOptions.config.operation ?? "other", String(reply.statusCode));
      done(null, payload);
    });
    scope.setErrorHandler((error, request, reply) => {
      // Fastify closes the connection after a rejected body, which can cost the client the answer: instead the rest is
      // read and dropped.
      reply.removeHeader("connection");
      const { operation } = request.routeOptions.config;
      return sendError(reply, error, () => logger.error({ err: error, operation }, "a request to the API failed"));
    });
    scope.setNotFoundHandler(() => {
      throw new FlatlineError("api_not_found", "no such operation, or not with this method");
    });
    // The operations read bodies as bytes of any content type, so that invalid JSON is one issue among the others.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null, undefined));
    const bodyOf = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
      readJson(await receiveBody(request.raw, reply.raw, { mostBytes: mostBodyBytes, budget: bodies }));

    addOperation(scope, operations.deadAssetSpike, async (request, reply) => {
      const json = await bodyOf(request, reply);
      const read = readWith(spikeRequestSchema, json);
      if (read.kind === "problems") throw badBody(json, issueMessages(read.problems));
      // No deadline: it is a few statements of the store, which have their own.
      return apiOf(request).deadAssetSpike(read.data);
    });
    addOperation(scope, operations.listReports, async (request) => {
      const parsed = parseReportsQuery(request.query);
      if (parsed.kind === "issues") throw badRequest(parsed.issues);
      const { signal, release } = clock.deadline(readTimeoutMs);
      try {
        return await apiOf(request).listReports(parsed.query, { signal });
      } finally {
        release();
      }
    });
    addOperation(scope, operations.reviewProposal, async (request, reply) => {
      const { proposalId } = request.params as { readonly proposalId: string };
      const json = await bodyOf(request, reply);
      const parsed = parseReviewRequest(proposalId, json);
      if (parsed.kind === "issues") throw badBody(json, parsed.issues);
      // No deadline: a review whose client disconnects is made completely or not at all.
      return apiOf(request).reviewProposal(parsed.request);
    });
    scope.get("/openapi.json", async () => openApiDocument());
  };
}

function addOperation(
  scope: FastifyInstance,
  operation: Operation,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  const url = operation.path.replaceAll(/\{(\w+)\}/g, ":$1");
  scope.route({ method: operation.method, url, config: { operation: operation.name }, handler });
}

// Ten times what any operation needs.
const mostBodyBytes = 1_024 * 1_024;

const headerName = "x-api-key";
const plain = /^[\x20-\x7e]*$/;

/** Returns the key from raw headers; null: `X-API-KEY` is missing, or repeated and thus ambiguous. */
function apiKeyOf(rawHeaders: readonly string[]): string | null {
  let value = "";
  let lines = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length !== headerName.length || name.toLowerCase() !== headerName) continue;
    lines++;
    value = rawHeaders[index + 1] ?? "";
  }
  if (value === "" || lines > 1) return null;
  // Node.js decodes header bytes as Latin-1; a key in a fixture is UTF-8.
  if (plain.test(value)) return value;
  return Buffer.from(value, "latin1").toString("utf8");
}

// Rejects invalid UTF-8, drops a byte order mark, and keeps no state between two texts.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses a body as JSON; undefined: it is none, and no schema accepts that. */
function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** The last issue is about the whole body: for invalid JSON this replaces it. */
function badBody(json: unknown, issues: readonly string[]): FlatlineError {
  return badRequest(json === undefined ? [...issues.slice(0, -1), "the body is not JSON"] : issues);
}

function badRequest(issues: readonly string[]): FlatlineError {
  return new FlatlineError("api_bad_request", issues[0] ?? "the request is malformed", { issues });
}
