import type { FastifyInstance } from "fastify";
import { z } from "zod";

import type { ByteBudget } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import { textUpTo } from "../../base/schema/values.ts";
import { longestSlug } from "../../contract/slug.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { ListedKey, MadeKey } from "../../contract/v1/keys.ts";
import { createKeyActs } from "../../service/key-acts.ts";
import type { StoredKey } from "../../store/platform/platform.ts";
import { keyRoles } from "../../store/platform/tables.ts";
import { authorOf } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { Running } from "../read/running.ts";
import { addResource, takeJsonBodies } from "../resource.ts";
import { listedKeySchema, madeKeySchema } from "../../contract/v1/keys.ts";
import { nameSchema, readInput } from "./read-input.ts";

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

/** `/api/v1/keys`: keys of the embedded service. */
export function addKeyRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { running, bodies }: { readonly running: Running; readonly bodies: ByteBudget },
): void {
  const acts = () => {
    if (!running.holdsEvents()) throw new FlatlineError("conflict", "there are keys with source.type: embedded only");
    return createKeyActs(running);
  };
  void scope.register(async (withBodies) => {
    takeJsonBodies(withBodies, bodies);
    addResource(withBodies, "/api/v1/keys", settings, {
      GET: {
        access: "admin",
        about: { says: "The valid keys of the embedded service", answer: z.array(listedKeySchema) },
        handle: async (): Promise<ListedKey[]> => (await acts().list()).map(viewKey),
      },
      POST: {
        access: "admin",
        about: {
          says: "Makes a key, which is shown this once",
          body: newKeySchema,
          answer: madeKeySchema,
          status: 201,
        },
        handle: async (request, reply) => {
          const wanted = readInput(newKeySchema, request.body, "not a key");
          const { key, stored } = await acts().create(wanted, authorOf(request));
          const known = new Set(running.config().organizations.map(({ slug }) => slug));
          for (const slug of await running.store.platform.organizations.slugs()) known.add(slug);
          const unknown = wanted.organizations.filter((slug) => !known.has(slug));
          const made: MadeKey = { ...viewKey(stored), key, ...(unknown.length === 0 ? {} : { unknown }) };
          return reply.code(201).send(made);
        },
      },
    });
  });
  addResource(scope, "/api/v1/keys/:id", settings, {
    DELETE: {
      access: "admin",
      about: { says: "Ends a key" },
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        if (!(await acts().revoke(id, authorOf(request))))
          throw new FlatlineError("not_found", `there is no valid key ${id}`);
        return reply.code(204).send();
      },
    },
  });
}

function viewKey({ id, name, role, organizations, createdAtMs }: StoredKey): ListedKey {
  return { id, name, role, organizations: [...organizations], createdAt: iso(createdAtMs) };
}
