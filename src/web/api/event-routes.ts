import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import { collectBytes, type HeldBytes, piecesOf } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import type { Actor } from "../../contract/actor.ts";
import {
  importAnswerSchema,
  importBegunSchema,
  importPlanSchema,
  ingestedSchema,
  type IngestedAnswer,
} from "../../contract/v1/operator.ts";
import type { ImportAnswer, ImportPlan } from "../../store/events/import.ts";
import type { ImportRow } from "../../store/events/imports.ts";
import type { RefusedPosts } from "../../words/events-in.ts";
import { authorOf } from "../access/identity.ts";
import { mediaTypeOf } from "../body.ts";
import type { WebParts } from "../parts.ts";
import { sendProblem } from "../problem.ts";
import { addRoute, type Asked, type Described } from "../route.ts";
import { readInput } from "./read-input.ts";

/** Who sends events. */
export interface EventAuthor {
  readonly actor: Actor;
  /** The patterns of the slugs of which they may be; null: all. */
  readonly organizations: readonly string[] | null;
}

/** What takes events, a whole body at a time; lines or an array. */
export interface EventsPort {
  /**
   * Stores the events of a body when all of it is checked; `otherStatuses` counts those that are neither a death nor a sign
   * of life. @throws FlatlineError invalid_data (issues name lines), forbidden, unavailable, store_*, and what `body` throws
   */
  ingest(
    body: AsyncIterable<Uint8Array>,
    author: EventAuthor,
  ): Promise<Omit<ImportAnswer, "someConflicts"> & { readonly otherStatuses: Readonly<Record<string, number>> }>;
  /** Begins an import. */
  begin(plan: ImportPlan, author: EventAuthor): Promise<number>;
  /** Stores some events of an import. @throws not_found for one that has not begun, and as `ingest` */
  addBody(id: number, body: AsyncIterable<Uint8Array>, author: EventAuthor): Promise<ImportAnswer>;
  /** Ends an import whose events are all stored. @throws not_found */
  end(id: number, author: EventAuthor): Promise<void>;
  /** Imports that have begun and not ended, and whether each is running. */
  imports(): readonly (ImportRow & { readonly isRunning: boolean })[];
  /** Posts that are refused, while that goes on. */
  refused(): RefusedPosts | null;
}

/** CONTRACT 8. */
export const maxEventsBytes = 16 * 1_024 * 1_024;
// Of the memory of all bodies; the rest is for people who act while events pour in.
const mostEventBytes = 60 * 1_024 * 1_024;

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

// They are read by the readers of imports, a row at a time.
const eventSchema = z.object({
  at: z.union([z.iso.datetime({ offset: true }), z.int()]),
  slug: z.string(),
  assetType: z.string().optional(),
  asset: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  count: z.int().nonnegative().optional(),
  attributes: z.record(z.string(), z.unknown()).optional(),
});

/** `POST /api/v1/events`, and the routes of imports (CONTRACT 8). */
export function addEventRoutes(server: FastifyInstance, { events, bodies: all }: WebParts): void {
  const bodies = all.part(mostEventBytes);
  const port = (): EventsPort => {
    const found = events();
    if (found !== null) return found;
    throw new FlatlineError("conflict", "events are taken with a local source only (source.type: embedded)");
  };
  const addBodyRoute = <Path extends `POST /api/v1/${string}`>(
    path: Path,
    described: Described,
    work: (body: AsyncIterable<Uint8Array>, asked: Asked<Path, unknown, unknown>) => Promise<unknown>,
  ): void =>
    addRoute(server, path, {
      access: "ingest",
      ...described,
      handle: async (asked) => {
        const held = bodies.open();
        try {
          return await withBody(asked, held, (body) => work(body, asked));
        } finally {
          held.release();
          // Unread bytes are dropped, so that the client can end its request and read the answer.
          asked.request.raw.resume();
        }
      },
    });
  addBodyRoute(
    "POST /api/v1/events",
    { says: "Takes liveness events, NDJSON or an array", bodySays: z.array(eventSchema), answer: ingestedSchema },
    async (body, { request }) => {
      const { otherStatuses, ...answer } = await port().ingest(body, authorOfEvents(request));
      const hasOther = Object.keys(otherStatuses).length > 0;
      return { ...answer, ...(hasOther ? { otherStatuses } : {}) } satisfies IngestedAnswer;
    },
  );
  addBodyRoute(
    "POST /api/v1/imports",
    { says: "Begins an import", bodySays: importPlanSchema, answer: importBegunSchema },
    async (body, { request }) => {
      const text = Buffer.from(await collectBytes(body, maxEventsBytes)).toString();
      return { id: await port().begin(readInput(importPlanSchema, parseJson(text)), authorOfEvents(request)) };
    },
  );
  addBodyRoute(
    "POST /api/v1/imports/:id/rows",
    { says: "Some rows of an import", bodySays: z.array(eventSchema), answer: importAnswerSchema },
    (body, { request, params: { id } }) => port().addBody(Number(id), body, authorOfEvents(request)),
  );
  addRoute(server, "POST /api/v1/imports/:id/end", {
    access: "ingest",
    says: "Ends an import",
    handle: ({ request, params: { id } }) => port().end(Number(id), authorOfEvents(request)),
  });
}

function authorOfEvents(request: FastifyRequest): EventAuthor {
  return { actor: authorOf(request), organizations: request.identity?.slugs ?? null };
}

async function withBody(
  { request, reply }: Pick<Asked<"", unknown, unknown>, "request" | "reply">,
  held: HeldBytes,
  work: (body: AsyncIterable<Uint8Array>) => Promise<unknown>,
): Promise<unknown> {
  const encoding = (request.headers["content-encoding"] ?? "identity").toLowerCase();
  if (!mediaTypes.has(mediaTypeOf(request))) {
    return sendProblem(reply, 415, "events are sent as application/x-ndjson, or as an array in application/json");
  }
  const isCompressed = encoding === "gzip" || encoding === "x-gzip";
  if (!isCompressed && encoding !== "identity") {
    return sendProblem(reply, 415, "events are sent with content-encoding gzip, or without one");
  }
  if (Number(request.headers["content-length"] ?? 0) > maxEventsBytes) throw tooLarge();
  const raw = piecesOf(request.raw);
  // A compressed body is passed on as it comes: its limit is for both forms, and what is kept is the other one.
  return work(bounded(isCompressed ? decompress(bounded(raw)) : raw, held));
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
