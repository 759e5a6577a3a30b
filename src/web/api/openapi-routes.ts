import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { memoized } from "../../base/memo.ts";
import type { WebParts } from "../parts.ts";
import { addRoute, type Operation } from "../route.ts";

type Json = Readonly<Record<string, unknown>>;

// Later versions may add codes.
const errorSchema = z.object({
  message: z.string(),
  code: z.string(),
  issues: z.array(z.object({ message: z.string() })).optional(),
});

/** Adds `GET /api/v1/openapi.json`, made of the schemas of all routes (CONTRACT 8). */
export function addOpenApiRoute(server: FastifyInstance, { version }: WebParts): void {
  const render = memoized(1, (basePath: string) =>
    JSON.stringify(openApiOf(server.operations, { version, server: `${basePath}/api/v1` })),
  );
  addRoute(server, "GET /api/v1/openapi.json", {
    access: "public",
    says: "This description",
    answer: z.looseObject({ openapi: z.string() }),
    handle: ({ request, reply }) => reply.type("application/json; charset=utf-8").send(render(request.basePath)),
  });
}

/** Returns operations as OpenAPI 3.1; an operation without `says` is not in the API. */
export function openApiOf(
  operations: readonly Operation[],
  { version, server }: { readonly version: string; readonly server: string },
): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const tags = new Set<string>();
  for (const { method, url, access, says, query, body, bodySays = body, answer, status } of operations) {
    if (says === undefined) continue;
    const path = url.replace("/api/v1", "").replaceAll(/:(\w+)/g, "{$1}");
    const [, tag = ""] = path.split(/[/.]/);
    tags.add(tag);
    (paths[path] ??= {})[method.toLowerCase()] = {
      operationId: `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+(\w)?/g, (_, next = "") => String(next).toUpperCase())}`,
      summary: says,
      description: access === "open" || access === "public" ? `Access: ${access}.` : `Needs \`${access}\`.`,
      tags: [tag],
      security: access === "open" ? [] : access === "public" ? [{}, { token: [] }] : [{ token: [] }],
      parameters: [
        ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
          name,
          in: "path",
          required: true,
          schema: { type: "string" },
        })),
        ...queryOf(query),
      ],
      ...(bodySays === undefined ? {} : { requestBody: { content: jsonContent(bodySays) } }),
      responses: {
        [status ?? (answer === undefined ? 204 : 200)]: { description: says, ...contentOf(answer) },
        "4XX": { $ref: "#/components/responses/Problem" },
      },
    };
  }
  return {
    openapi: "3.1.1",
    info: { title: "flatline", version, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: server }],
    tags: [...tags].toSorted().map((name) => ({ name, description: `/api/v1/${name}` })),
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      responses: { Problem: { description: "Refused.", content: jsonContent(errorSchema) } },
    },
  };
}

function queryOf(query: Operation["query"]): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(query) as {
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function contentOf(answer: Operation["answer"]): Json {
  if (answer === undefined) return {};
  if (answer === "text/markdown") return { content: { [answer]: { schema: { type: "string" } } } };
  return { content: jsonContent(answer) };
}

function jsonContent(schema: z.ZodType): Json {
  return { "application/json": { schema: jsonSchema(schema) } };
}

/** Returns the JSON Schema of the input, not of the parsed value. */
function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}
