import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { receiveBody } from "../../base/request-body.ts";
import { textUpTo } from "../../base/schema/values.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import {
  reportRecordsPageSchema,
  reviewRecordSchema,
  parseReportsQuery,
  reportsQuerySchema,
} from "../../contract/report-schemas.ts";
import { parseReviewRequest, reviewBodySchema } from "../../contract/review-body.ts";
import { longestSlug } from "../../contract/slug.ts";
import { fixtureCountsSchema, listedKeySchema, madeKeySchema } from "../../contract/v1/operator.ts";
import type { FixtureText } from "../../service/fixture/file.ts";
import { keyRoles } from "../../store/platform/tables.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import { addRoute } from "../route.ts";
import { malformed, nameSchema } from "../input.ts";

const mostOrganizations = 1_000;

const newKeySchema = z.strictObject({
  organizations: z
    .array(textUpTo(longestSlug).min(1))
    .min(1)
    .max(mostOrganizations)
    .transform((slugs) => [...new Set(slugs)]),
  role: z.enum(keyRoles).default("customer"),
  name: nameSchema.default(""),
});

const fixturesSchema = z.strictObject({
  files: z.array(z.strictObject({ name: z.string(), text: z.string() })).min(1),
});
// CONTRACT 8.
const mostFixtureBytes = 16 * 1_024 * 1_024;

/** Adds the embedded service's keys, fixtures and operations; its modules are loaded at the first request. */
export function addEmbeddedRoutes(server: FastifyInstance, { running, bodies }: WebParts): void {
  const { store, clock } = running;
  const requireEmbedded = (): void => {
    if (!running.holdsEvents()) throw new FlatlineError("conflict", "this is for source.type: embedded only");
  };
  const configured = (): string[] => running.config().organizations.map(({ slug }) => slug);
  const keys = async () => {
    requireEmbedded();
    const { createKeyActs } = await import("../../service/api-keys.ts");
    return createKeyActs(running);
  };

  addRoute(server, "GET /api/v1/keys", {
    access: "admin",
    says: "The valid keys of the embedded service",
    answer: z.array(listedKeySchema),
    handle: async () => (await keys()).list(),
  });
  addRoute(server, "POST /api/v1/keys", {
    access: "admin",
    says: "Makes a key, which is shown this once",
    body: newKeySchema,
    answer: madeKeySchema,
    status: 201,
    handle: async ({ request, body }) => {
      const { key, stored } = await (await keys()).create(body, authorOf(request));
      const known = new Set([...configured(), ...(await store.platform.organizations.slugs())]);
      const unknown = body.organizations.filter((slug) => !known.has(slug));
      return { ...stored, key, unknown: unknown.length === 0 ? undefined : unknown };
    },
  });
  addRoute(server, "DELETE /api/v1/keys/:id", {
    access: "admin",
    says: "Ends a key",
    handle: async ({ request, params: { id } }) => {
      if (!(await (await keys()).revoke(id, authorOf(request))))
        throw new FlatlineError("not_found", `there is no valid key ${id}`);
    },
  });
  addRoute(server, "POST /api/v1/fixtures", {
    access: "admin",
    says: "Inserts or updates records of the embedded service",
    bodySays: fixturesSchema,
    answer: fixtureCountsSchema,
    handle: async ({ request, reply }) => {
      requireEmbedded();
      const body = await receiveBody(request.raw, reply.raw, { mostBytes: mostFixtureBytes, budget: bodies });
      const files = readFiles(body.toString());
      const { importFixtures } = await import("../../service/fixture/fixture.ts");
      return importFixtures({ store, clock, files, configured: configured(), by: authorOf(request) });
    },
  });

  /** Returns the service as a customer key of the slug sees it. */
  async function apiFor(request: FastifyRequest, slug: string | undefined): Promise<PlatformApi> {
    requireEmbedded();
    if (slug === undefined) throw malformed(["slug: is required"]);
    const { appUrl } = running.config();
    const options = { ...running, appUrl, organizations: configured(), author: authorOf(request) };
    const { createLocalPlatformSource } = await import("../../service/local-platform-api.ts");
    return createLocalPlatformSource(options).forOrganization(slug);
  }
  addRoute(server, "POST /api/v1/platform/list_reports", {
    access: "operate",
    says: "The listing of the embedded service",
    body: z.record(z.string(), z.coerce.string()),
    bodySays: reportsQuerySchema,
    answer: reportRecordsPageSchema,
    handle: async ({ request, reply, body }) => {
      const parsed = parseReportsQuery(body);
      if (parsed.kind === "issues") throw malformed(parsed.issues);
      return reply.send(await (await apiFor(request, parsed.query.slug)).listReports(parsed.query));
    },
  });
  addRoute(server, "POST /api/v1/platform/review_proposal", {
    access: "gate",
    says: "A review of the embedded service",
    body: z.record(z.string(), z.unknown()),
    bodySays: z.object({ proposalId: z.int() }).and(reviewBodySchema),
    answer: reviewRecordSchema,
    handle: async ({ request, reply, body: { proposalId, ...body } }) => {
      const parsed = parseReviewRequest(String(proposalId), body);
      if (parsed.kind === "issues") throw malformed(parsed.issues);
      return reply.send(await (await apiFor(request, parsed.request.slug)).reviewProposal(parsed.request));
    },
  });
}

/** Returns one fixture, or several that may refer to each other. */
function readFiles(text: string): readonly FixtureText[] {
  try {
    const several = fixturesSchema.safeParse(JSON.parse(text));
    if (several.success) return several.data.files;
  } catch {
    // The text may be YAML.
  }
  return [{ name: "body", text }];
}
