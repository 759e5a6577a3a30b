import type { FastifyInstance } from "fastify";
import { z } from "zod";

import type { AuditEntry, AuditStore } from "../../store/acts/audit.ts";
import type { AccessSettings } from "../access/settings.ts";
import { addResource } from "../resource.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { AuditAnswer } from "../../contract/v1/operator.ts";
import { cursorSchema, defaultLimit, limitSchema, writeCursor } from "./paging.ts";
import { auditSchema } from "../../contract/v1/operator.ts";
import { readInput } from "./read-input.ts";

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const querySchema = z.strictObject({
  since: instant.optional(),
  until: instant.optional(),
  actor: z.string().min(1).optional(),
  limit: limitSchema.optional(),
  cursor: cursorSchema(z.tuple([z.int(), z.int()])).optional(),
});

/** `/api/v1/audit`: who did what (CONTRACT 13). */
export function addAuditRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { audit }: { readonly audit: Pick<AuditStore, "list"> },
): void {
  addResource(scope, "/api/v1/audit", settings, {
    GET: {
      access: "admin",
      about: { says: "Who did what, newest first", query: querySchema, answer: auditSchema },
      isWrite: false,
      handle: async (request): Promise<AuditAnswer> => {
        const query = readInput(querySchema, request.query, "not a listing of the audit");
        const { since, until, actor, limit = defaultLimit, cursor } = query;
        const found = await audit.list({
          ...(since === undefined ? {} : { sinceMs: since }),
          ...(until === undefined ? {} : { untilMs: until }),
          ...(actor === undefined ? {} : { actor }),
          ...(cursor === undefined ? {} : { after: { atMs: cursor[0], id: cursor[1] } }),
          // One more shows whether there is a next page.
          limit: limit + 1,
        });
        const entries = found.slice(0, limit);
        const last = found.length > limit ? entries.at(-1) : undefined;
        return {
          entries: entries.map(viewEntry),
          ...(last === undefined ? {} : { cursor: writeCursor([last.atMs, last.id]) }),
        };
      },
    },
  });
}

function viewEntry({
  id,
  atMs,
  actor,
  via,
  action,
  slug,
  subject,
  detail,
}: AuditEntry): AuditAnswer["entries"][number] {
  return { id: String(id), at: iso(atMs), actor, via, action, slug, subject, detail };
}
