import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { textUpTo } from "../../base/schema/values.ts";
import { dayMs } from "../../base/time.ts";
import { longestSlug } from "../../contract/slug.ts";
import { iso } from "../../contract/v1/instant.ts";
import { markerSchema } from "../../contract/v1/operator.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import { addRoute } from "../route.ts";
import { instantSchema, malformed, nameSchema } from "../input.ts";

// A chart's line and a sentence have room for this much.
const longestText = 200;
// The deployer's clock may be a little ahead.
const aheadMs = 5 * 60_000;
const shownMs = 30 * dayMs;

const slugSchema = z.string().min(1).max(longestSlug).optional();

const newMarkerSchema = z.strictObject({
  text: textUpTo(longestText).refine((text) => text.trim() !== "", "is empty"),
  at: instantSchema.optional(),
  slug: slugSchema,
  createdBy: nameSchema.optional(),
});

const rangeSchema = z.strictObject({ from: instantSchema.optional(), to: instantSchema.optional(), slug: slugSchema });

/** Adds `/api/v1/markers`: deployments and other changes that may explain an incident. */
export function addMarkerRoutes(server: FastifyInstance, { running }: WebParts): void {
  const { store, clock, newId, onAct } = running;
  addRoute(server, "GET /api/v1/markers", {
    access: "public",
    says: "Deployments and other changes, oldest first",
    query: rangeSchema,
    answer: z.array(markerSchema),
    handle: ({ query: { from, to, slug } }) => {
      const toMs = to ?? clock.nowMs();
      return store.markers.between({ fromMs: from ?? toMs - shownMs, toMs, slug });
    },
  });
  addRoute(server, "POST /api/v1/markers", {
    access: "operate",
    says: "Records one",
    body: newMarkerSchema,
    answer: markerSchema,
    status: 201,
    handle: async ({ request, body: { text: said, at, slug = null, createdBy: by } }) => {
      const nowMs = clock.nowMs();
      if (at !== undefined && at > nowMs + aheadMs)
        throw malformed(["at: is in the future: a marker records what was done"]);
      const [text, atMs, actor] = [said.trim(), at ?? nowMs, authorOf(request, by)];
      const { name: createdBy, note } = actor;
      const made = { id: newId(), text, atMs, slug, createdBy, note, createdAtMs: nowMs };
      await store.transaction(async ({ markers, audit }) => {
        await markers.add(made);
        const act = { action: "marker.create", slug, subject: made.id } as const;
        await audit.append({ atMs: nowMs, actor, ...act, detail: { text, at: iso(atMs) } });
      });
      onAct();
      return made;
    },
  });
  addRoute(server, "DELETE /api/v1/markers/:id", {
    access: "operate",
    says: "Removes one",
    handle: async ({ request, params: { id } }) => {
      await store.transaction(async ({ markers, audit }) => {
        const marker = await markers.byId(id);
        if (marker === null || !(await markers.remove(id))) throw new FlatlineError("not_found", "no such marker");
        const act = { action: "marker.delete", slug: marker.slug, subject: id, detail: { text: marker.text } } as const;
        await audit.append({ atMs: clock.nowMs(), actor: authorOf(request), ...act });
      });
      onAct();
    },
  });
}
