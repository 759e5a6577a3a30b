import { z } from "zod";

import { errorBodySchema } from "../../contract/error-body.ts";
import { servedHealthcheckSchema, spikeRequestSchema } from "../../contract/healthcheck-schemas.ts";
import { operations } from "../../contract/operations.ts";
import { reportRecordsPageSchema, reviewRecordSchema, reportsQuerySchema } from "../../contract/report-schemas.ts";
import { defaultPageSize, ownFilterNames, type ReportsQuery } from "../../contract/reports.ts";
import { reviewBodySchema } from "../../contract/review-body.ts";

type Json = Readonly<Record<string, unknown>>;

// A URL has text only: these are the types of the text. Tests compare them with the parser.
const meanings: Readonly<Partial<Record<keyof ReportsQuery, Json>>> = {
  limit: { type: "integer", minimum: 1, maximum: 100, default: defaultPageSize },
  onlyRejected: { type: "boolean", default: false },
  needsCustomerReview: { type: "boolean", default: false },
};

const ownNote = "An extension of flatline: the API's description has no name for this filter.";

/** Returns the query of the listing as OpenAPI parameters; `x-flatline-own` marks flatline's extensions. */
export function reportParameters(): readonly Json[] {
  const { properties = {} } = z.toJSONSchema(reportsQuerySchema, { io: "input", target: "draft-2020-12" });
  return (Object.keys(properties) as (keyof ReportsQuery)[]).map((name) => {
    const isOwn = ownFilterNames.some((own) => own === name);
    const marks = isOwn ? { description: ownNote, "x-flatline-own": true } : {};
    return { name, in: "query", ...marks, schema: meanings[name] ?? properties[name] };
  });
}

// The version of API v2, not of flatline.
const interfaceVersion = "2.0.0";

/** Returns API v2 as flatline serves it, as OpenAPI 3.1 from the schemas that validate requests. */
export function openApiDocument(): Json {
  return {
    openapi: "3.1.1",
    info: {
      title: "flatline: API v2",
      version: interfaceVersion,
      description:
        "The healthcheck, the reports listing and the review of a proposal, " +
        "as flatline's embedded service answers them. Elements marked `x-flatline-own` are extensions of flatline.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/api/v2" }],
    security: [{ apiKey: [] }],
    tags: [
      { name: "healthchecks", description: "Healthchecks of the platform." },
      { name: "reports", description: "Reports of an organization and their proposals." },
    ],
    paths: {
      [operations.deadAssetSpike.path]: { post: deadAssetSpike },
      [operations.listReports.path]: { get: listReports },
      [operations.reviewProposal.path]: { post: reviewProposal },
    },
    components: {
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-KEY" } },
      schemas: {
        SpikeRequest: jsonSchema(spikeRequestSchema),
        HealthcheckResult: jsonSchema(servedHealthcheckSchema),
        ReportsPage: { ...jsonSchema(reportRecordsPageSchema), "x-flatline-own": true },
        ReviewRequest: jsonSchema(reviewBodySchema),
        ReviewResult: jsonSchema(reviewRecordSchema),
        Error: jsonSchema(errorBodySchema),
      },
    },
  };
}

const deadAssetSpike: Json = {
  operationId: "healthchecksAssetsDeadAssetSpike",
  tags: ["healthchecks"],
  summary: "Evaluate the spike in recently dead assets",
  description: "Omitted thresholds have the API's defaults. Unknown keys are ignored.",
  requestBody: jsonBody("SpikeRequest", { slug: "ads-hosts", windowHours: 24 }),
  responses: {
    200: answer("The verdict with its counts and thresholds.", "HealthcheckResult"),
    ...refusals({
      400: "Malformed: one issue per problem.",
      403: "The key has no access to the organization, or it does not exist.",
    }),
  },
};

const listReports: Json = {
  operationId: "listReports",
  tags: ["reports"],
  summary: "List an organization's reports, newest first",
  description: "`needsCustomerReview=true` is the customer review queue. A repeated or unknown parameter is refused.",
  parameters: reportParameters(),
  responses: {
    200: answer("A page; `cursor` is present only if more reports exist.", "ReportsPage"),
    ...refusals({
      400:
        "Malformed, a cursor of another organization or other filters, " +
        "or no slug with a key for several organizations.",
    }),
  },
};

const reviewProposal: Json = {
  operationId: "reviewProposal",
  tags: ["reports"],
  summary: "Decide on a proposal in the customer review queue",
  description:
    "Irreversible. APPROVE blocks the asset for every organization; WATCHLIST is stored as REJECT and the asset is " +
    "checked again. Send it once: after a lost answer, read the proposal again.",
  parameters: [
    { name: "proposalId", in: "path", required: true, schema: { type: "integer", minimum: 1 }, example: 301 },
  ],
  requestBody: jsonBody("ReviewRequest", { assetId: 501, decision: "REJECT", rejectReason: "irrelevant" }),
  responses: {
    200: answer("The review was made.", "ReviewResult"),
    ...refusals({
      400:
        "Malformed, a field that the decision needs is missing, a brand of another organization, " +
        "or an asset of a type that can't be re-checked.",
      403:
        "No access with this key, not a customer's key, reported by the organization itself, not in the queue, " +
        "or a safety check.",
      404: "No such proposal in the organization.",
      409: "The proposal is resolved, or has another asset: read it again.",
    }),
    429: {
      ...answer("Ten reviews by API in the last 24 hours, over all keys of the organization.", "Error"),
      headers: {
        "Retry-After": { description: "Seconds until the next review is possible.", schema: { type: "integer" } },
      },
    },
  },
};

function refusals(own: Readonly<Record<number, string>>): Json {
  const all = { 401: "No valid key, or a key without access.", 500: "An error of the server.", ...own };
  return Object.fromEntries(Object.entries(all).map(([status, text]) => [status, answer(text, "Error")]));
}

function answer(description: string, schema: string): Json {
  return { description, content: { "application/json": { schema: reference(schema) } } };
}

function jsonBody(schema: string, example: Json): Json {
  return { required: true, content: { "application/json": { schema: reference(schema), example } } };
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input", target: "draft-2020-12" });
  return rest;
}
