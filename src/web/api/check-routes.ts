import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import type { Clock } from "../../base/time.ts";
import type { CheckName } from "../../contract/report.ts";
import { authorOf, seesDetails } from "../access/identity.ts";
import type { CheckAnswer } from "../../contract/v1/checks.ts";
import { unknownCheck, viewCheck, viewReport } from "./check-view.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { CheckReading } from "../read/checks.ts";
import { checkSchema, runReportSchema } from "../../contract/v1/checks.ts";
import { readInput } from "./read-input.ts";
import { addResource } from "../resource.ts";

const checksQuery = z.object({ slug: z.string().optional() });

/** `/api/v1/checks…`: what is known, and a run now (CONTRACT 8). */
export function addCheckRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { checks, clock }: { readonly checks: CheckReading; readonly clock: Clock },
): void {
  addResource(scope, "/api/v1/checks", settings, {
    GET: {
      access: "public",
      about: { says: "Every check of every organization, or of one", query: checksQuery, answer: z.array(checkSchema) },
      handle: async (request) => {
        const { slug } = readInput(checksQuery, request.query, "not a listing of checks");
        const snapshots = (await checks.list()).filter(({ state }) => slug === undefined || state.slug === slug);
        const withDetails = seesDetails(request);
        return snapshots.map((snapshot) => viewCheck(snapshot, clock.nowMs(), withDetails));
      },
    },
  });
  addResource(scope, "/api/v1/checks/:check/:slug", settings, {
    GET: {
      access: "public",
      about: { says: "One check", answer: checkSchema },
      handle: async (request): Promise<CheckAnswer> => {
        const { check, slug } = targetOf(request, checks.names());
        const snapshot = await checks.get(check, slug);
        if (snapshot === null) throw unknownCheck(check, slug, checks.names());
        return viewCheck(snapshot, clock.nowMs(), seesDetails(request));
      },
    },
  });
  addResource(scope, "/api/v1/checks/:check/:slug/run", settings, {
    POST: {
      access: "operate",
      about: { says: "Runs it now, as its schedule does", answer: runReportSchema },
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
