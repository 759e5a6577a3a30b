import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { issueMessages, readWith } from "../../contract/issues.ts";
import type { FleetState } from "../../store/alerts/notices.ts";
import { authorOf, seesDetails } from "../access/identity.ts";
import { iso, viewOnsetMarker } from "./check-view.ts";
import type { AccessSettings, AlertSnapshot, AlertsPort } from "../ports.ts";
import { addResource, takeJsonBodies } from "../resource.ts";

// Names and comments are for people; what is longer is a mistake.
const longestName = 200;
const longestComment = 1_000;

const acknowledgementSchema = z.strictObject({
  by: z.string().max(longestName).optional(),
  comment: z.string().max(longestComment).optional(),
});

/** `/api/v1/alerts…`: what lives, and its acknowledgement. It holds no findings, so that anybody may read it (CONTRACT 8). */
export function addAlertRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { alerts }: { readonly alerts: AlertsPort },
): void {
  takeJsonBodies(scope);
  addResource(scope, "/api/v1/alerts", settings, {
    GET: {
      access: "public",
      handle: async (request) => {
        const live = await alerts.list();
        const withPeople = seesDetails(request);
        return {
          alerts: live.alerts.map((alert) => viewAlert(alert, withPeople)),
          fleet: live.fleet === null ? null : viewFleet(live.fleet, live.alerts),
        };
      },
    },
  });
  addResource(scope, "/api/v1/alerts/:id/ack", settings, {
    POST: {
      access: "operate",
      handle: async (request) => {
        const { id } = request.params as { readonly id: string };
        const { by, comment } = readAcknowledgement(request.body);
        return viewAlert(await alerts.acknowledge(id, authorOf(request, by), comment), seesDetails(request));
      },
    },
  });
}

function readAcknowledgement(body: unknown): { readonly by: string | null; readonly comment: string | null } {
  // A body is not needed: who only wants quiet need not say why.
  const read = readWith(acknowledgementSchema, body ?? {});
  if (read.kind === "problems") {
    throw new FlatlineError("invalid_data", "not an acknowledgement", { issues: issueMessages(read.problems) });
  }
  return { by: read.data.by ?? null, comment: nonBlank(read.data.comment) };
}

function nonBlank(text: string | undefined): string | null {
  return text === undefined || text.trim() === "" ? null : text;
}

/** Times are ISO 8601. `withPeople`: who acknowledged it and why, which as with silences is the operator's business. */
function viewAlert({ state, silenced, labels, url }: AlertSnapshot, withPeople: boolean): object {
  const { id, check, slug, kind, severity, startsAtMs, firingAtMs, peak, onset, reason, acknowledgement } = state;
  return {
    id,
    check,
    slug,
    kind,
    state: state.state,
    severity,
    startsAt: iso(startsAtMs),
    firingAt: iso(firingAtMs),
    onsetAt: iso(onset?.atMs ?? null),
    marker: viewOnsetMarker(onset),
    silenced,
    acknowledged: acknowledgement !== null,
    peak: { severity: peak.severity, currentCount: peak.currentCount, at: iso(peak.atMs) },
    reason,
    labels,
    url,
    ...(withPeople && acknowledgement !== null
      ? {
          acknowledgement: {
            at: iso(acknowledgement.atMs),
            by: acknowledgement.by,
            note: acknowledgement.note,
            comment: acknowledgement.comment,
            severity: acknowledgement.severity,
          },
        }
      : {}),
  };
}

/** Totals without names. */
function viewFleet(fleet: FleetState, alerts: readonly AlertSnapshot[]): object {
  const { id, check, startsAtMs, peakSpiking, organizations } = fleet;
  const spiking = alerts.filter(
    ({ state }) => state.check === check && state.kind === "verdict" && state.state === "firing",
  ).length;
  return { id, check, startsAt: iso(startsAtMs), spiking, peakSpiking, organizations };
}
