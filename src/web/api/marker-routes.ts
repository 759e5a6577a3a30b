import type { FastifyInstance } from "fastify";
import { z } from "zod";

import type { ByteBudget } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import { dayMs, type Clock } from "../../base/time.ts";
import { longestSlug } from "../../contract/slug.ts";
import type { Marker } from "../../store/alerts/markers.ts";
import { authorOf, seesDetails } from "../access/identity.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { ListedMarker } from "../../contract/v1/markers.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { MarkerReading } from "../read/markers.ts";
import { addResource, takeJsonBodies } from "../resource.ts";
import { textUpTo } from "../../base/schema/values.ts";
import { markerSchema as listedMarkerSchema } from "../../contract/v1/markers.ts";
import { nameSchema, readInput } from "./read-input.ts";

// What a chart can show beside a line, and a sentence can hold.
const longestText = 200;
// A clock of the rollout that is a little ahead of ours is no mistake; tomorrow is.
const aheadMs = 5 * 60_000;
const shownMs = 30 * dayMs;

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const markerSchema = z.strictObject({
  text: textUpTo(longestText).refine((text) => text.trim() !== "", "is empty"),
  at: instant.optional(),
  slug: z.string().min(1).max(longestSlug).optional(),
  createdBy: nameSchema.optional(),
});

const rangeSchema = z.strictObject({
  from: instant.optional(),
  to: instant.optional(),
  slug: z.string().min(1).max(longestSlug).optional(),
});

/** `/api/v1/markers`: what people did that may explain what began after it. */
export function addMarkerRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { markers, clock, bodies }: { readonly markers: MarkerReading; readonly clock: Clock; readonly bodies: ByteBudget },
): void {
  void scope.register(async (withBodies) => {
    takeJsonBodies(withBodies, bodies);
    addResource(withBodies, "/api/v1/markers", settings, {
      GET: {
        access: "public",
        about: {
          says: "Deployments and other changes, oldest first",
          query: rangeSchema,
          answer: z.array(listedMarkerSchema),
        },
        handle: async (request) => {
          const { from, to, slug } = readInput(rangeSchema, request.query, "not a range of markers");
          const toMs = to ?? clock.nowMs();
          const range = { fromMs: from ?? toMs - shownMs, toMs, ...(slug === undefined ? {} : { slug }) };
          const withPeople = seesDetails(request);
          return (await markers.between(range)).map((marker) => viewMarker(marker, withPeople));
        },
      },
      POST: {
        access: "operate",
        about: { says: "Records one", body: markerSchema, answer: listedMarkerSchema, status: 201 },
        handle: async (request, reply) => {
          const { text, at, slug = null, createdBy } = readInput(markerSchema, request.body, "not a marker");
          const nowMs = clock.nowMs();
          if (at !== undefined && at > nowMs + aheadMs) {
            const issues = ["at: is in the future: a marker records what was done"];
            throw new FlatlineError("invalid_data", "not a marker", { issues });
          }
          const made = await markers.add({ text: text.trim(), atMs: at ?? nowMs, slug }, authorOf(request, createdBy));
          return reply.code(201).send(viewMarker(made, seesDetails(request)));
        },
      },
    });
  });
  addResource(scope, "/api/v1/markers/:id", settings, {
    DELETE: {
      access: "operate",
      about: { says: "Removes one" },
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        if (!(await markers.remove(id, authorOf(request)))) throw new FlatlineError("not_found", "no such marker");
        return reply.code(204).send();
      },
    },
  });
}

/** Times are ISO 8601. `withPeople`: who made it, which as with silences is the operator's business. */
function viewMarker({ id, atMs, text, slug, createdBy, note, createdAtMs }: Marker, withPeople: boolean): ListedMarker {
  return { id, at: iso(atMs), text, slug, ...(withPeople ? { createdBy, note } : {}), createdAt: iso(createdAtMs) };
}
