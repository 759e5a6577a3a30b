import type { FastifyInstance } from "fastify";
import { z } from "zod";

import type { ByteBudget } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import { authorOf, seesDetails } from "../access/identity.ts";
import type { Gate, GateList } from "../../contract/v1/gate.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { GateReading, GateView } from "../read/gate.ts";
import { addResource, takeJsonBodies } from "../resource.ts";
import { gateListSchema, gateSchema } from "../../contract/v1/gate.ts";
import { nameSchema, readInput, reasonSchema } from "./read-input.ts";

const releaseSchema = z.strictObject({ by: nameSchema.optional(), comment: reasonSchema });

/** `/api/v1/gate…`: those that are held, and whether a pipeline may act on an organization's deaths; always 200 for a known slug. */
export function addGateRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { gate, bodies }: { readonly gate: GateReading; readonly bodies: ByteBudget },
): void {
  takeJsonBodies(scope, bodies);
  addResource(scope, "/api/v1/gate", settings, {
    GET: {
      access: "public",
      about: { says: "The gates that hold", answer: gateListSchema },
      handle: async (request, reply) => {
        const withPeople = seesDetails(request);
        const { held, open } = await gate.all();
        void gate.noteAsked();
        const gates = held.map((view) => viewGate(view, withPeople));
        return reply.header("cache-control", "no-store").send({ gates, open } satisfies GateList);
      },
    },
  });
  addResource(scope, "/api/v1/gate/:slug", settings, {
    GET: {
      access: "public",
      about: { says: "May a pipeline act on the deaths of an organization", answer: gateSchema },
      handle: async (request, reply) => {
        const { slug } = request.params as { readonly slug: string };
        const view = known(await gate.look(slug));
        void gate.noteAsked();
        // A decision is of its moment: nothing between here and the pipeline may keep it.
        return reply.header("cache-control", "no-store").send(viewGate(view, seesDetails(request)));
      },
    },
  });
  addResource(scope, "/api/v1/gate/:slug/release", settings, {
    POST: {
      access: "gate",
      about: { says: "Lets deaths be acted on again", body: releaseSchema, answer: gateSchema },
      handle: async (request) => {
        const { slug } = request.params as { readonly slug: string };
        const { by, comment } = readInput(releaseSchema, request.body, "not a release");
        return viewGate(known(await gate.release(slug, authorOf(request, by), comment)), seesDetails(request));
      },
    },
  });
}

function known(view: GateView | null): GateView {
  if (view === null) throw new FlatlineError("not_found", "no such organization");
  return view;
}

/** Times are ISO 8601. `withPeople`: who released it and why, which is the operator's business. */
function viewGate(
  { slug, decision, reason, message, opens, failure, sinceMs, suspectFromMs, releases }: GateView,
  withPeople: boolean,
): Gate {
  return {
    slug,
    decision,
    reason,
    message,
    opens,
    check: failure?.check ?? null,
    alertId: failure?.alertId ?? null,
    since: iso(sinceMs),
    suspectFrom: iso(suspectFromMs),
    releases: releases.map(({ atMs, how, alertId, by, comment }) => ({
      at: iso(atMs),
      how,
      alertId,
      ...(withPeople ? { by, comment } : {}),
    })),
  };
}
