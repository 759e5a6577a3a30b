import type { FastifyInstance } from "fastify";

import { FlatlineError } from "../../base/errors.ts";
import { seesDetails } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { AlertAssets } from "../read/alert-assets.ts";
import type { IncidentReading } from "../read/incidents.ts";
import { renderIncidentReport } from "../report/incident-report.ts";
import { addResource } from "../resource.ts";

export interface ReportRoutesOptions {
  readonly alertAssets: Pick<AlertAssets, "costOf">;
  readonly incidents: Pick<IncidentReading, "find">;
}

/** `/api/v1/incidents/{id}/report`: an incident as Markdown, for pasting where people talk about it (CONTRACT 15). */
export function addReportRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { alertAssets, incidents }: ReportRoutesOptions,
): void {
  addResource(scope, "/api/v1/incidents/:id/report", settings, {
    GET: {
      access: "public",
      about: { says: "The incident as Markdown", answer: "text/markdown" },
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        const found = await incidents.find(id);
        if (found === null) throw new FlatlineError("not_found", "no incident has this number or id");
        const cost = await alertAssets.costOf(found.members.map(({ alert }) => alert));
        const text = renderIncidentReport({ ...found, cost, withPeople: seesDetails(request) });
        return reply.type("text/markdown; charset=utf-8").send(text);
      },
    },
  });
}
