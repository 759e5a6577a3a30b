import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { checkSchema, runReportSchema, type CheckAnswer } from "../../contract/v1/alerts.ts";
import { authorOf } from "../access/identity.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { WebParts } from "../parts.ts";
import { addRoute } from "../route.ts";
import { unknownCheck, viewCheck, viewReport } from "./check-view.ts";

/** `/api/v1/checks…`: what is known, and a run now (CONTRACT 8). */
export function addCheckRoutes(server: FastifyInstance, { running }: WebParts): void {
  const { checks, clock, checkNames } = running;
  const alertsByCheck = async () => Map.groupBy((await running.fleet()).alerts, checkKey);
  addRoute(server, "GET /api/v1/checks", {
    access: "public",
    says: "Every check of every organization, or of one",
    query: z.object({ slug: z.string().optional() }),
    answer: z.array(checkSchema),
    handle: async ({ query: { slug }, withDetails }) => {
      const alerts = await alertsByCheck();
      const states = checks.all().filter((state) => slug === undefined || state.slug === slug);
      return states.map((state) =>
        viewCheck(state, alerts.get(checkKey(state)) ?? [], { nowMs: clock.nowMs(), withDetails }),
      );
    },
  });
  addRoute(server, "GET /api/v1/checks/:check/:slug", {
    access: "public",
    says: "One check",
    answer: checkSchema,
    handle: async ({ params: { check, slug }, withDetails }): Promise<CheckAnswer> => {
      const state = checks.of(check, slug);
      if (state === null) throw unknownCheck(check, slug, checkNames());
      const alerts = (await alertsByCheck()).get(checkKey(state)) ?? [];
      return viewCheck(state, alerts, { nowMs: clock.nowMs(), withDetails });
    },
  });
  addRoute(server, "POST /api/v1/checks/:check/:slug/run", {
    access: "operate",
    says: "Runs it now, as its schedule does",
    answer: runReportSchema,
    handle: async ({ request, params: { check, slug }, withDetails }) => {
      if (!checkNames().includes(check)) throw unknownCheck(check, slug, checkNames());
      return viewReport(await running.runNow(check, slug, authorOf(request)), withDetails);
    },
  });
}
