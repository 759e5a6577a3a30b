import type { FastifyInstance } from "fastify";

import { FlatlineError } from "../../base/errors.ts";
import type { Clock } from "../../base/time.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { AlertReading } from "../read/alerts.ts";
import type { CheckReading } from "../read/checks.ts";
import type { AlertAssetsPort, AssetPage } from "../ports/dead-assets.ts";
import type { GateReading } from "../read/gate.ts";
import type { IncidentReading } from "../read/incidents.ts";
import { renderAlertReport, type ReportFacts } from "../report/alert-report.ts";
import { addResource } from "../resource.ts";

export interface ReportRoutesOptions {
  readonly alerts: AlertReading;
  readonly checks: CheckReading;
  readonly gate: GateReading;
  readonly alertAssets: AlertAssetsPort;
  readonly incidents: Pick<IncidentReading, "find">;
  readonly clock: Clock;
}

const shownAssets = 10;

/** `/api/v1/alerts/{id}/report`: an alert as Markdown, for pasting where people talk about it (CONTRACT 12). */
export function addReportRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { alerts, checks, gate, alertAssets, incidents, clock }: ReportRoutesOptions,
): void {
  /** Without them a report is still worth having. */
  async function newestAssets(id: string): Promise<AssetPage | null> {
    try {
      return (await (await alertAssets.of(id))?.page({ limit: shownAssets })) ?? null;
    } catch (error) {
      if (error instanceof FlatlineError && (error.code === "too_large" || error.code === "unavailable")) return null;
      throw error;
    }
  }

  /** The sentence is of the whole incident; answers are of the alert's organization. */
  async function opinionOf({ incident, slug }: AlertState): Promise<ReportFacts["opinion"]> {
    if (incident === undefined) return null;
    const found = await incidents.find(incident.id);
    if (found === null) return null;
    const answers = found.look.answers.filter((one) => one.slug === slug);
    return { incident: found.incident, look: { ...found.look, answers } };
  }

  addResource(scope, "/api/v1/alerts/:id/report", settings, {
    GET: {
      access: "read",
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        const detail = await alerts.find(id);
        if (detail === null) throw new FlatlineError("not_found", "no alert has this id");
        const { check, slug } = detail.state;
        const report = detail.endsAtMs === null ? (await checks.get(check, slug))?.state.lastReport : null;
        const text = renderAlertReport({
          detail,
          result: report?.kind === "result" ? report.result : (detail.worstResult?.result ?? null),
          resultAtMs: detail.worstResult?.atMs ?? null,
          gate: await gate.look(slug),
          assets: await newestAssets(id),
          opinion: await opinionOf(detail.state),
          externalUrl: settings().externalUrl,
          nowMs: clock.nowMs(),
        });
        return reply.type("text/markdown; charset=utf-8").send(text);
      },
    },
  });
}
