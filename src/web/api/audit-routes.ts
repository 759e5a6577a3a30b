import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { issueMessages, readWith } from "../../contract/issues.ts";
import type { AuditEntry, AuditPosition } from "../../store/acts/audit.ts";
import type { AccessSettings, AuditPort } from "../ports.ts";
import { addResource } from "../resource.ts";
import { iso } from "./check-view.ts";

const defaultLimit = 100;
const mostEntries = 1_000;
const limitProblem = `must be a whole number from 1 to ${mostEntries}`;

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const querySchema = z.strictObject({
  since: instant.optional(),
  until: instant.optional(),
  actor: z.string().min(1).optional(),
  limit: z
    .string()
    .regex(/^\d{1,4}$/, limitProblem)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= mostEntries, limitProblem)
    .optional(),
  cursor: z.string().transform(readCursor).optional(),
});

/** `/api/v1/audit`: who did what (CONTRACT 13). */
export function addAuditRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { audit }: { readonly audit: AuditPort },
): void {
  addResource(scope, "/api/v1/audit", settings, {
    GET: {
      access: "admin",
      isAboutAll: true,
      isWrite: false,
      handle: async (request) => {
        const read = readWith(querySchema, request.query);
        if (read.kind === "problems")
          throw new FlatlineError("invalid_data", "not a listing of the audit", {
            issues: issueMessages(read.problems),
          });
        const { since, until, actor, limit = defaultLimit, cursor } = read.data;
        const found = await audit.list({
          ...(since === undefined ? {} : { sinceMs: since }),
          ...(until === undefined ? {} : { untilMs: until }),
          ...(actor === undefined ? {} : { actor }),
          ...(cursor === undefined ? {} : { after: cursor }),
          // One more tells whether there is a next page.
          limit: limit + 1,
        });
        const entries = found.slice(0, limit);
        const last = found.length > limit ? entries.at(-1) : undefined;
        return { entries: entries.map(viewEntry), ...(last === undefined ? {} : { cursor: writeCursor(last) }) };
      },
    },
  });
}

function viewEntry({ id, atMs, actor, via, action, slug, subject, detail }: AuditEntry): object {
  return { id: String(id), at: iso(atMs), actor, via, action, slug, subject, detail };
}

const cursorSchema = z.tuple([z.int(), z.int()]);

function writeCursor({ atMs, id }: AuditPosition): string {
  return Buffer.from(JSON.stringify([atMs, id])).toString("base64url");
}

function readCursor(text: string, context: z.RefinementCtx): AuditPosition {
  const parsed = cursorSchema.safeParse(parseJson(Buffer.from(text, "base64url").toString()));
  if (parsed.success) return { atMs: parsed.data[0], id: parsed.data[1] };
  context.addIssue({ code: "custom", message: "is none that this listing gave; begin again without it" });
  return z.NEVER;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
