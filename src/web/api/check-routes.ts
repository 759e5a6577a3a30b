import type { FastifyInstance, FastifyRequest } from "fastify";

import type { Clock } from "../../base/time.ts";
import type { CheckName } from "../../contract/report.ts";
import { authorOf, seesDetails } from "../access/identity.ts";
import type { CheckDetailAnswer } from "../../contract/v1/checks.ts";
import { unknownCheck, viewCheck, viewEndedAlert, viewReport } from "./check-view.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { CheckReading } from "../read/checks.ts";
import { addResource } from "../resource.ts";

/** `/api/v1/checks…`: what is known, and a run now (CONTRACT 8). */
export function addCheckRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { checks, clock }: { readonly checks: CheckReading; readonly clock: Clock },
): void {
  addResource(scope, "/api/v1/checks", settings, {
    GET: {
      access: "public",
      handle: async (request) => {
        const { slug } = request.query as { readonly slug?: unknown };
        const snapshots = (await checks.list()).filter(({ state }) => slug === undefined || state.slug === slug);
        const withDetails = seesDetails(request);
        return snapshots.map((snapshot) => viewCheck(snapshot, clock.nowMs(), withDetails));
      },
    },
  });
  addResource(scope, "/api/v1/checks/:check/:slug", settings, {
    GET: {
      access: "public",
      handle: async (request): Promise<CheckDetailAnswer> => {
        const { check, slug } = targetOf(request, checks.names());
        const snapshot = await checks.get(check, slug);
        if (snapshot === null) throw unknownCheck(check, slug, checks.names());
        const ended = await checks.ended(check, slug);
        const withDetails = seesDetails(request);
        const endedAlerts = ended.map((alert) => viewEndedAlert(alert, withDetails));
        return { ...viewCheck(snapshot, clock.nowMs(), withDetails), endedAlerts };
      },
    },
  });
  addResource(scope, "/api/v1/checks/:check/:slug/run", settings, {
    POST: {
      access: "operate",
      handle: async (request) => {
        const { check, slug } = targetOf(request, checks.names());
        return viewReport(await checks.runNow(check, slug, authorOf(request)), seesDetails(request));
      },
    },
  });
}

function targetOf(request: FastifyRequest, known: readonly CheckName[]): { check: CheckName; slug: string } {
  const target = request.params as { readonly check: string; readonly slug: string };
  if (!known.includes(target.check)) throw unknownCheck(target.check, target.slug, known);
  return target;
}
