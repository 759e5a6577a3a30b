import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import { readBody, unpackBody } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import type { Actor } from "../../contract/actor.ts";
import { importAnswerSchema, importBegunSchema, importPlanSchema, ingestedSchema } from "../../contract/v1/operator.ts";
import type { ImportAnswer, ImportPlan } from "../../store/events/import.ts";
import type { ImportRow } from "../../store/events/imports.ts";
import type { RefusedPosts } from "../../words/incoming.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import { sendProblem } from "../answer.ts";
import { addRoute, type Asked, type Described } from "../route.ts";
import { readInput } from "../input.ts";

/** The sender of events. */
export interface EventAuthor {
  readonly actor: Actor;
  /** Patterns of the slugs that it may send; null: all. */
  readonly organizations: readonly string[] | null;
}

/** Takes liveness events: NDJSON, or a JSON array. */
export interface EventsPort {
  /**
   * Stores the events of a valid body; `otherStatuses` counts those that are neither a death nor a sign of life.
   * @throws FlatlineError invalid_data (issues name lines), forbidden, unavailable, store_*
   */
  ingest(
    body: Buffer,
    author: EventAuthor,
  ): Promise<Omit<ImportAnswer, "someConflicts"> & { readonly otherStatuses: Readonly<Record<string, number>> }>;
  /** Returns the id of the new import. */
  begin(plan: ImportPlan, author: EventAuthor): Promise<number>;
  /** @throws FlatlineError not_found for an unknown import, and as `ingest` */
  addBody(id: number, body: Buffer, author: EventAuthor): Promise<ImportAnswer>;
  /** @throws FlatlineError not_found */
  end(id: number, author: EventAuthor): Promise<void>;
  /** Imports that have not ended. */
  imports(): readonly (ImportRow & { readonly isRunning: boolean })[];
  /** null: no posts are refused now. */
  refused(): RefusedPosts | null;
}

/** CONTRACT 8. */
export const maxEventsBytes = 16 * 1_024 * 1_024;
// A part of all bodies' memory; the rest is for people who act during a load of events.
const mostEventBytes = 60 * 1_024 * 1_024;

// The API's description shows it; the readers of imports check each row.
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

/** Adds `POST /api/v1/events` and the routes of imports (CONTRACT 8). */
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
        // A post waits for earlier ones, also when its client has gone, and takes memory until then.
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
      const answer = await port().ingest(body, authorOfEvents(request));
      const hasOther = Object.keys(answer.otherStatuses).length > 0;
      return { ...answer, otherStatuses: hasOther ? answer.otherStatuses : undefined };
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
