import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import { readBody, unpackBody } from "../../base/request-body.ts";
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
   * Stores the events of a body when all of it is checked; `otherStatuses` counts those that are neither a death nor a
   * sign of life. @throws FlatlineError invalid_data (issues name lines), forbidden, unavailable, store_*
   */
  ingest(
    body: Buffer,
    author: EventAuthor,
  ): Promise<Omit<ImportAnswer, "someConflicts"> & { readonly otherStatuses: Readonly<Record<string, number>> }>;
  /** Begins an import. */
  begin(plan: ImportPlan, author: EventAuthor): Promise<number>;
  /** Stores some events of an import. @throws not_found for one that has not begun, and as `ingest` */
  addBody(id: number, body: Buffer, author: EventAuthor): Promise<ImportAnswer>;
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
export function addEventRoutes(server: FastifyInstance, { events, bodies }: WebParts): void {
  const budget = bodies.part(mostEventBytes);
  const port = (): EventsPort => {
    const found = events();
    if (found !== null) return found;
    throw new FlatlineError("conflict", "events are taken with a local source only (source.type: embedded)");
  };
  const addBodyRoute = <Path extends `POST /api/v1/${string}`>(
    path: Path,
    described: Described,
    work: (body: Buffer, asked: Asked<Path, unknown, unknown>) => Promise<unknown>,
  ): void =>
    addRoute(server, path, {
      access: "ingest",
      ...described,
      handle: async (asked) => {
        const { request, reply } = asked;
        const encoding = (request.headers["content-encoding"] ?? "identity").toLowerCase();
        const isPacked = encoding === "gzip" || encoding === "x-gzip";
        if (!isPacked && encoding !== "identity")
          return sendProblem(reply, 415, "events are sent with content-encoding gzip, or without one");
        // A post waits for those before it, also when its client has gone: until then it takes memory.
        const held = budget.open();
        try {
          const body = await readBody(request.raw, maxEventsBytes, held);
          return await work(isPacked ? await unpackBody(body, maxEventsBytes, held) : body, asked);
        } finally {
          held.release();
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
      const plan = readInput(importPlanSchema, parseJson(body.toString()));
      return { id: await port().begin(plan, authorOfEvents(request)) };
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
