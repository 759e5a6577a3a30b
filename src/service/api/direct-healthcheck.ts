import type { IncomingMessage, ServerResponse } from "node:http";

import { FlatlineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { eventLoopTurn, type Clock } from "../../base/time.ts";
import { escapeUnseen } from "../../base/unseen-text.ts";
import { operations } from "../../contract/operations.ts";
import type { PlatformApi, SpikeRequest } from "../../contract/platform-api.ts";
import type { BaselineKind } from "../../spike/median.ts";
import { parseSpikeBody } from "./bodies.ts";
import { apiKeyOf } from "./key-header.ts";
import { badRequest, internalRefusal, jsonType, refusalOf, refusalParts, type ApiRefusal } from "./refusals.ts";
import { readTimeoutMs } from "./routes.ts";
import type { KeyIdentity } from "../key-identity.ts";
import type { EvaluationCounts } from "../local-evaluation.ts";
import { evaluateRound } from "../local-round.ts";
import { spikeResultText } from "../spike-result-text.ts";

/**
 * Answers a request on Node's own objects; returns false if it left the request untouched for the routes. `headers` are sent
 * with every answer, names and values in turn.
 */
export type DirectHandler = (request: IncomingMessage, response: ServerResponse, headers: readonly string[]) => boolean;

export interface DirectHealthcheckOptions {
  /** Returns the cached holder of a key; null if the store must be asked. */
  readonly rememberedKey: (apiKey: string) => KeyIdentity | null;
  /** Returns API v2 as the holder of the key, for healthchecks that are not evaluated here. */
  readonly apiFor: (identity: KeyIdentity) => PlatformApi;
  /** Returns the settings of an organization's evaluation; null if the configuration does not name it. */
  readonly settingsOf: (slug: string) => EvaluationSettings | null;
  readonly counts: EvaluationCounts;
  /** Called as by the routes. */
  readonly onRequest: (operation: string, code: string) => void;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "deadline">;
  readonly logger: Logger;
}

export interface EvaluationSettings {
  readonly appUrl: string | null;
  readonly baseline: BaselineKind;
}

/** A request that is answered at the end of the turn in which it was read. */
interface Asked {
  readonly identity: KeyIdentity;
  readonly request: SpikeRequest;
  readonly settings: EvaluationSettings;
  readonly answer: (status: number, text: string, retryAfter?: string | null) => void;
}

const operation = operations.deadAssetSpike;
const url = `/api/v2${operation.path}`;
// A body has some hundred bytes; longer ones go to the routes, with their limit.
const longestBody = 16 * 1_024;

/**
 * Creates a handler for the ordinary healthcheck of API v2: its exact path, a recently used key and a short body of known
 * length. It gives the same answers as the route at half the cost: no hooks, and all requests of one turn of the event loop
 * are evaluated together, without promises, timers and signals of their own.
 */
export function createDirectHealthcheck(options: DirectHealthcheckOptions): DirectHandler {
  const { rememberedKey, settingsOf, onRequest } = options;
  let gathered: Asked[] = [];

  function gather(asked: Asked): void {
    gathered.push(asked);
    if (gathered.length > 1) return;
    void eventLoopTurn().then(() => {
      const all = gathered;
      gathered = [];
      return answerAll(all, options);
    });
  }

  return (message, response, headers) => {
    if (message.method !== "POST" || message.url !== url || !hasShortJson(message)) return false;
    const apiKey = apiKeyOf(message.rawHeaders);
    const identity = apiKey === null ? null : rememberedKey(apiKey);
    if (identity === null) return false;

    const answer: Asked["answer"] = (status, json, retryAfter = null) => {
      onRequest(operation.name, String(status));
      const text = escapeUnseen(json);
      const length = Buffer.byteLength(text);
      const head = [...headers, "content-type", jsonType, "content-length", String(length)];
      if (retryAfter !== null) head.push("retry-after", retryAfter);
      response.writeHead(status, head);
      // ASCII is the same in both encodings, and Latin-1 needs no conversion.
      response.end(text, length === text.length ? "latin1" : "utf8");
    };
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const [first] = chunks;
      const parsed = parseSpikeBody(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks));
      if (parsed.kind === "issues") return refuse(answer, badRequest(parsed.issues));
      const { request } = parsed;
      const settings = identity.organizations.includes(request.slug) ? settingsOf(request.slug) : null;
      if (settings === null) void answerAlone({ identity, request, answer }, options);
      else gather({ identity, request, settings, answer });
    });
    return true;
  };
}

/** Returns whether the body is JSON, unencoded, and of a short known length. */
function hasShortJson({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  if (length === undefined || headers["transfer-encoding"] !== undefined || headers.expect !== undefined) return false;
  return headers["content-type"] === "application/json" && Number(length) <= longestBody;
}

/** Reads the counts of all requests with one query. A request that fails there runs alone and reports its error. */
async function answerAll(all: readonly Asked[], options: DirectHealthcheckOptions): Promise<void> {
  const { clock, counts } = options;
  const nowMs = clock.nowMs();
  const untilMs = clock.monotonicMs() + readTimeoutMs;
  const evaluations = all.map(({ request: { slug, ...thresholds }, settings }) => ({
    slug,
    thresholds,
    ...settings,
    nowMs,
  }));
  const results = await evaluateRound(evaluations, counts).catch(() => []);
  const isLate = clock.monotonicMs() >= untilMs;
  for (const [index, asked] of all.entries()) {
    const result = results[index] ?? null;
    if (isLate) refuseFor(asked, new FlatlineError("api_timeout", "the operation did not end in time"), options);
    else if (result === null) void answerAlone(asked, options);
    else asked.answer(200, spikeResultText(result));
  }
}

/** Evaluates one request as the route does. */
async function answerAlone(
  asked: Pick<Asked, "identity" | "request" | "answer">,
  options: DirectHealthcheckOptions,
): Promise<void> {
  const { signal, release } = options.clock.deadline(readTimeoutMs);
  try {
    const result = await options.apiFor(asked.identity).deadAssetSpike(asked.request, { signal });
    asked.answer(200, JSON.stringify(result));
  } catch (error) {
    refuseFor(asked, error, options);
  } finally {
    release();
  }
}

function refuseFor({ answer }: Pick<Asked, "answer">, error: unknown, { logger }: DirectHealthcheckOptions): void {
  const refusal = refusalOf(error);
  if (refusal === internalRefusal)
    logger.error({ err: error, operation: operation.name }, "a request to the API failed");
  refuse(answer, refusal);
}

function refuse(answer: Asked["answer"], refusal: ApiRefusal): void {
  const { body, retryAfter } = refusalParts(refusal);
  answer(refusal.status, JSON.stringify(body), retryAfter);
}
