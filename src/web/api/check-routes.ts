import type { FastifyInstance } from "fastify";
import { z } from "zod";

import type { Clock } from "../../base/time.ts";
import { checkSchema, runReportSchema, type CheckAnswer } from "../../contract/v1/checks.ts";
import { authorOf } from "../access/identity.ts";
import type { CheckReading } from "../read/checks.ts";
import { addRoute } from "../route.ts";
import { unknownCheck, viewCheck, viewReport } from "./check-view.ts";

/** `/api/v1/checks…`: what is known, and a run now (CONTRACT 8). */
export function addCheckRoutes(
  server: FastifyInstance,
  { checks, clock }: { readonly checks: CheckReading; readonly clock: Clock },
): void {
  addRoute(server, "GET /api/v1/checks", {
    access: "public",
    says: "Every check of every organization, or of one",
    query: z.object({ slug: z.string().optional() }),
    answer: z.array(checkSchema),
    handle: async ({ query: { slug }, withDetails }) => {
      const snapshots = (await checks.list()).filter(({ state }) => slug === undefined || state.slug === slug);
      return snapshots.map((snapshot) => viewCheck(snapshot, clock.nowMs(), withDetails));
    },
  });
  addRoute(server, "GET /api/v1/checks/:check/:slug", {
    access: "public",
    says: "One check",
    answer: checkSchema,
    handle: async ({ params: { check, slug }, withDetails }): Promise<CheckAnswer> => {
      const snapshot = await checks.get(check, slug);
      if (snapshot === null) throw unknownCheck(check, slug, checks.names());
      return viewCheck(snapshot, clock.nowMs(), withDetails);
    },
  });
  addRoute(server, "POST /api/v1/checks/:check/:slug/run", {
    access: "operate",
    says: "Runs it now, as its schedule does",
    answer: runReportSchema,
    handle: async ({ request, params: { check, slug }, withDetails }) => {
      if (!checks.names().includes(check)) throw unknownCheck(check, slug, checks.names());
      return viewReport(await checks.runNow(check, slug, authorOf(request)), withDetails);
    },
  });
}
