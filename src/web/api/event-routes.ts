import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type ByteBudget, type HeldBytes, piecesOf } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { IngestedAnswer } from "../../contract/v1/operator.ts";
import { authorOf } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { EventsPort } from "../ports/events.ts";
import { sendProblem } from "../problem.ts";
import { addResource } from "../resource.ts";

/** CONTRACT 8. */
export const maxEventsBytes = 16 * 1_024 * 1_024;

const mediaTypes: ReadonlySet<string> = new Set([
  "",
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/x-jsonlines",
  "application/json",
  "application/octet-stream",
  "text/plain",
  // The type that curl gives any --data by default.
  "application/x-www-form-urlencoded",
]);

/** `POST /api/v1/events` (CONTRACT 8); `events` is null while the source is not a local one. */
export function addEventRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { events, bodies }: { readonly events: () => EventsPort | null; readonly bodies: ByteBudget },
): void {
  addResource(scope, "/api/v1/events", settings, {
    POST: {
      access: "ingest",
      handle: async (request, reply) => {
        const held = bodies.open();
        try {
          return await ingest(events(), request, reply, held);
        } finally {
          held.release();
          // Unread bytes are dropped, so that the client can end its request and read the answer.
          request.raw.resume();
        }
      },
    },
  });
}

async function ingest(
  events: EventsPort | null,
  request: FastifyRequest,
  reply: FastifyReply,
  held: HeldBytes,
): Promise<unknown> {
  if (events === null) {
    throw new FlatlineError("conflict", "events are taken with a local source only (source.type: embedded)");
  }
  const mediaType = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const encoding = (request.headers["content-encoding"] ?? "identity").toLowerCase();
  if (!mediaTypes.has(mediaType)) {
    return sendProblem(reply, 415, "events are sent as application/x-ndjson, or as an array in application/json");
  }
  const isCompressed = encoding === "gzip" || encoding === "x-gzip";
  if (!isCompressed && encoding !== "identity") {
    return sendProblem(reply, 415, "events are sent with content-encoding gzip, or without one");
  }
  if (Number(request.headers["content-length"] ?? 0) > maxEventsBytes) throw tooLarge();
  const idempotencyKey = readIdempotencyKey(request.headers["idempotency-key"]);

  const raw = piecesOf(request.raw);
  // A compressed body is passed on as it comes: its limit is for both forms, and what is kept is the other one.
  const body = bounded(isCompressed ? decompress(bounded(raw)) : raw, held);
  const { otherStatuses, ...answer } = await events.ingest(body, {
    idempotencyKey,
    author: authorKey(request),
    organizations: request.identity?.slugs ?? null,
  });
  const hasOther = Object.keys(otherStatuses).length > 0;
  return { ...answer, ...(hasOther ? { otherStatuses } : {}) } satisfies IngestedAnswer;
}

/** Who posts, apart from all others. */
function authorKey(request: FastifyRequest): string {
  const { name, via } = authorOf(request);
  return `${via} ${name}`;
}

function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new FlatlineError("invalid_data", "Idempotency-Key is not 1 to 255 visible characters of ASCII");
}

/** The same bytes, held before they are passed on; throws too_large past the limit. */
async function* bounded(body: AsyncIterable<Uint8Array>, held: HeldBytes | null = null): AsyncGenerator<Uint8Array> {
  let receivedBytes = 0;
  for await (const chunk of body) {
    receivedBytes += chunk.length;
    if (receivedBytes > maxEventsBytes) throw tooLarge();
    held?.hold(chunk.length);
    yield chunk;
  }
}

async function* decompress(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  // An error of the body destroys the stream with it; the loop throws it.
  pipeline(Readable.from(body), gunzip, () => undefined);
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof FlatlineError) throw error;
    throw new FlatlineError("invalid_data", "the body is not gzip, or is incomplete", { cause: error });
  }
}

function tooLarge(): FlatlineError {
  return new FlatlineError("too_large", "the body is larger than 16 MiB: send it in parts");
}
