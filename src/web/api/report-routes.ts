import type { FastifyInstance } from "fastify";

import type { IncidentMember } from "../../alerting/incident-summary.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { Clock } from "../../base/time.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import { compareSeverity } from "../../contract/severity.ts";
import { seesDetails } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { AlertReading } from "../read/alerts.ts";
import type { CheckReading } from "../read/checks.ts";
import type { AlertAssets } from "../read/alert-assets.ts";
import type { AssetPage } from "../read/asset-list.ts";
import type { IncidentReading, ReadIncident } from "../read/incidents.ts";
import { renderIncidentReport, type ReportedEvidence } from "../report/incident-report.ts";
import { addResource } from "../resource.ts";
import { viewResult } from "./check-view.ts";

export interface ReportRoutesOptions {
  readonly alerts: Pick<AlertReading, "find">;
  readonly checks: Pick<CheckReading, "get">;
  readonly alertAssets: Pick<AlertAssets, "ofIncident" | "costOf">;
  readonly incidents: Pick<IncidentReading, "find">;
  readonly clock: Pick<Clock, "nowMs">;
}

const shownAssets = 10;
// What they share is said of the whole; one that is unlike the others is among the worst.
const shownEvidence = 3;

/** `/api/v1/incidents/{id}/report`: an incident as Markdown, for pasting where people talk about it (CONTRACT 15). */
export function addReportRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { alerts, checks, alertAssets, incidents, clock }: ReportRoutesOptions,
): void {
  /** Without them a report is still worth having. */
  async function firstAssets({ incident, members }: ReadIncident): Promise<AssetPage | null> {
    if (incident.family !== "deaths") return null;
    const ids = members.map(({ alert }) => alert.id);
    try {
      return (await (await alertAssets.ofIncident(incident, ids))?.page({ limit: shownAssets })) ?? null;
    } catch (error) {
      if (error instanceof FlatlineError && (error.code === "too_large" || error.code === "unavailable")) return null;
      throw error;
    }
  }

  async function evidenceOf({ alert, end }: IncidentMember, withPeople: boolean): Promise<ReportedEvidence[]> {
    const { id, check, slug } = alert;
    const shown = (result: HealthcheckResult) =>
      ({ kind: "result", result: viewResult(check, result, withPeople) }) as const;
    if (end === null) {
      const report = (await checks.get(check, slug))?.state.lastReport ?? null;
      if (report === null) return [];
      return [{ slug, report: report.kind === "error" ? report : shown(report.result), atMs: null }];
    }
    const worst = (await alerts.find(id))?.worstResult ?? null;
    return worst === null ? [] : [{ slug, report: shown(worst.result), atMs: worst.atMs }];
  }

  addResource(scope, "/api/v1/incidents/:id/report", settings, {
    GET: {
      access: "public",
      about: { says: "The incident as Markdown", answer: "text/markdown" },
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        const found = await incidents.find(id);
        if (found === null) throw new FlatlineError("not_found", "no incident has this number or id");
        const withPeople = seesDetails(request);
        const members = found.members.toSorted(compareMembers);
        const text = renderIncidentReport({
          ...found,
          members,
          evidence: (
            await Promise.all(members.slice(0, shownEvidence).map((one) => evidenceOf(one, withPeople)))
          ).flat(),
          assets: await firstAssets(found),
          cost: await alertAssets.costOf(members.map(({ alert }) => alert)),
          nowMs: clock.nowMs(),
          withPeople,
        });
        return reply.type("text/markdown; charset=utf-8").send(text);
      },
    },
  });
}

/** Orders firing ones before ended ones, then the worst first. */
function compareMembers(left: IncidentMember, right: IncidentMember): number {
  return (
    Number(left.end !== null) - Number(right.end !== null) ||
    compareSeverity(right.alert.severity, left.alert.severity) ||
    (right.alert.peak.currentCount ?? 0) - (left.alert.peak.currentCount ?? 0)
  );
}
