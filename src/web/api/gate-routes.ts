import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { gateListSchema, gateSchema, type Gate, type GateList } from "../../contract/v1/alerts.ts";
import { withInstants } from "../../contract/v1/instant.ts";
import { authorOf } from "../access/identity.ts";
import type { WebParts } from "../parts.ts";
import type { GateView } from "../read/gate.ts";
import { addRoute } from "../route.ts";
import { nameSchema, reasonSchema } from "./read-input.ts";

/** `/api/v1/gate…`: those that are held, and whether a pipeline may act on an organization's deaths; always 200 for a known slug. */
export function addGateRoutes(server: FastifyInstance, { gate }: WebParts): void {
  addRoute(server, "GET /api/v1/gate", {
    access: "public",
    says: "The gates that hold",
    answer: gateListSchema,
    handle: async ({ withDetails }): Promise<GateList> => {
      const { held, open } = await gate.all();
      void gate.noteAsked();
      return { gates: held.map((view) => viewGate(view, withDetails)), open };
    },
  });
  // A decision is of its moment: no answer of ours is kept on the way to the pipeline.
  addRoute(server, "GET /api/v1/gate/:slug", {
    access: "public",
    says: "May a pipeline act on the deaths of an organization",
    answer: gateSchema,
    handle: async ({ params: { slug }, withDetails }) => {
      const view = known(await gate.look(slug));
      void gate.noteAsked();
      return viewGate(view, withDetails);
    },
  });
  addRoute(server, "POST /api/v1/gate/:slug/release", {
    access: "gate",
    says: "Lets deaths be acted on again",
    body: z.strictObject({ by: nameSchema.optional(), comment: reasonSchema }),
    answer: gateSchema,
    handle: async ({ request, params: { slug }, body: { by, comment }, withDetails }) =>
      viewGate(known(await gate.release(slug, authorOf(request, by), comment)), withDetails),
  });
}

function known(view: GateView | null): GateView {
  if (view === null) throw new FlatlineError("not_found", "no such organization");
  return view;
}

/** Times are ISO 8601. `withPeople`: who released it and why, which is the operator's business. */
function viewGate(
  { slug, decision, reason, message, failure, sinceMs, suspectFromMs, releases }: GateView,
  withPeople: boolean,
): Gate {
  const { check = null, id: alertId = null } = failure ?? {};
  return {
    ...withInstants({ slug, decision, reason, message, check, alertId, sinceMs, suspectFromMs }),
    releases: releases.map(({ by, comment, ...one }) =>
      withInstants({ ...one, ...(withPeople ? { by, comment } : {}) }),
    ),
  };
}
