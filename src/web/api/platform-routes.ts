import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import type { ByteBudget } from "../../base/request-body.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import { parseReportsQuery } from "../../contract/reports-query.ts";
import type { ReportsPage } from "../../contract/reports.ts";
import { parseReviewRequest } from "../../contract/review-body.ts";
import type { ReviewOutcome } from "../../contract/review.ts";
import { createLocalPlatformSource } from "../../service/local-platform-source.ts";
import { authorOf } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { Running } from "../read/running.ts";
import { reportRecordsPageSchema, reviewRecordSchema } from "../../contract/report-record.ts";
import { reviewBodySchema } from "../../contract/review-body.ts";
import { reportsQuerySchema } from "../../contract/reports-query.ts";
import { addResource, takeJsonBodies } from "../resource.ts";

const proposalSchema = z.object({ proposalId: z.int() });

/** `/api/v1/platform/{operation}`: the embedded service as a customer key of the body's `slug`, for people without one. */
export function addPlatformRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { running, bodies }: { readonly running: Running; readonly bodies: ByteBudget },
): void {
  function apiFor(request: FastifyRequest, slug: string | undefined): PlatformApi {
    const { source, organizations, appUrl } = running.config();
    if (!source.holdsEvents) throw new FlatlineError("conflict", "there is a service with source.type: embedded only");
    if (slug === undefined) throw new FlatlineError("usage", "slug: is required");
    const slugs = organizations.map((organization) => organization.slug);
    const options = { ...running, appUrl, organizations: slugs, author: authorOf(request) };
    return createLocalPlatformSource(options).forOrganization(slug);
  }
  takeJsonBodies(scope, bodies);
  addResource(scope, "/api/v1/platform/list_reports", settings, {
    POST: {
      access: "operate",
      about: { says: "The listing of the embedded service", body: reportsQuerySchema, answer: reportRecordsPageSchema },
      handle: async (request): Promise<ReportsPage> => {
        // As in a URL.
        const asked = Object.entries(request.body ?? {}).map(([name, value]) => [name, String(value)]);
        const parsed = parseReportsQuery(Object.fromEntries(asked));
        if (parsed.kind === "issues") throw wrong(parsed.issues);
        return apiFor(request, parsed.query.slug).listReports(parsed.query);
      },
    },
  });
  addResource(scope, "/api/v1/platform/review_proposal", settings, {
    POST: {
      access: "gate",
      about: {
        says: "A review of the embedded service",
        body: proposalSchema.and(reviewBodySchema),
        answer: reviewRecordSchema,
      },
      handle: async (request): Promise<ReviewOutcome> => {
        const { proposalId, ...body } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
        const parsed = parseReviewRequest(String(proposalId), body);
        if (parsed.kind === "issues") throw wrong(parsed.issues);
        return apiFor(request, parsed.request.slug).reviewProposal(parsed.request);
      },
    },
  });
}

function wrong(issues: readonly string[]): FlatlineError {
  return new FlatlineError("usage", issues[0] ?? "the request is malformed", { issues });
}
