import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { type ByteBudget, receiveBody } from "../../base/request-body.ts";
import type { FixtureCounts } from "../../contract/v1/fixtures.ts";
import type { FixtureText } from "../../service/fixture/file.ts";
import { importFixtures } from "../../service/fixture/fixture.ts";
import { authorOf } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { Running } from "../read/running.ts";
import { fixtureCountsSchema } from "../../contract/v1/fixtures.ts";
import { addResource } from "../resource.ts";

// CONTRACT 8.
const mostBytes = 16 * 1_024 * 1_024;

const severalSchema = z.strictObject({
  files: z.array(z.strictObject({ name: z.string(), text: z.string() })).min(1),
});

/** `POST /api/v1/fixtures`: a fixture, or several that may refer to each other, for the embedded service. */
export function addFixtureRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { running, bodies }: { readonly running: Running; readonly bodies: ByteBudget },
): void {
  addResource(scope, "/api/v1/fixtures", settings, {
    POST: {
      access: "admin",
      about: {
        says: "Inserts or updates records of the embedded service",
        body: severalSchema,
        answer: fixtureCountsSchema,
      },
      handle: async (request, reply): Promise<FixtureCounts> => {
        const { store, clock } = running;
        const { source, organizations } = running.config();
        if (!source.holdsEvents)
          throw new FlatlineError("conflict", "fixtures are taken with source.type: embedded only");
        const body = await receiveBody(request.raw, reply.raw, { mostBytes, budget: bodies });
        const configured = organizations.map(({ slug }) => slug);
        return importFixtures({ store, clock, files: readFiles(body.toString()), configured, by: authorOf(request) });
      },
    },
  });
}

function readFiles(text: string): readonly FixtureText[] {
  try {
    const several = severalSchema.safeParse(JSON.parse(text));
    if (several.success) return several.data.files;
  } catch {
    // It may be YAML.
  }
  return [{ name: "body", text }];
}
