import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { formatDuration } from "../../base/durations.ts";
import { FlatlineError } from "../../base/errors.ts";
import { literalOf } from "../../base/text-pattern.ts";
import type { CheckName } from "../../contract/report.ts";
import type { ListedSilence } from "../../alerting/silence-book.ts";
import { longestSlug } from "../../contract/slug.ts";
import type { RowOf } from "../../contract/v1/answer.ts";
import { silenceSchema } from "../../contract/v1/operator.ts";
import type { NewSilence } from "../../store/alerts/silences.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import { addRoute } from "../route.ts";
import { instantSchema, malformed, nameSchema, readInput, reasonSchema } from "../input.ts";

// A pattern for one organization is its slug with stars and backslashes escaped.
const longestPattern = 2 * longestSlug;

const newSilenceSchema = z.strictObject({
  slug: z.string().min(1).max(longestPattern),
  check: z.string().min(1).max(longestPattern).optional(),
  startsAt: instantSchema.optional(),
  endsAt: instantSchema,
  comment: reasonSchema,
  createdBy: nameSchema.optional(),
});

const changeSchema = z
  .strictObject({ endsAt: instantSchema.optional(), comment: reasonSchema.optional() })
  .refine(
    ({ endsAt, comment }) => endsAt !== undefined || comment !== undefined,
    "changes nothing: give endsAt or comment",
  );

/** Adds `/api/v1/silences` (CONTRACT 7 and 8). */
export function addSilenceRoutes(server: FastifyInstance, { silences, running }: WebParts): void {
  addRoute(server, "GET /api/v1/silences", {
    access: "read",
    says: "Silences that have not ended",
    answer: z.array(silenceSchema),
    handle: async () => (await silences.list()).map(viewSilence),
  });
  addRoute(server, "POST /api/v1/silences", {
    access: "operate",
    says: "Silences",
    body: newSilenceSchema,
    answer: silenceSchema,
    status: 201,
    handle: async ({ request, body }) => {
      const silence = silenceOf(body, running.clock.nowMs(), running.checkNames());
      return viewSilence(await silences.add(silence, authorOf(request, body.createdBy)));
    },
  });
  addRoute(server, "PATCH /api/v1/silences/:id", {
    access: "operate",
    says: "Gives a silence another end or comment",
    body: changeSchema,
    answer: silenceSchema,
    handle: async ({ request, params: { id }, body: { endsAt, comment } }) => {
      // Silences of the configuration have the id null.
      if (id === "null") throw new FlatlineError("conflict", "it is of the configuration: change it in its file");
      const change = {
        ...(endsAt === undefined ? {} : { endsAtMs: endsAt }),
        ...(comment === undefined ? {} : { comment }),
      };
      return viewSilence(await silences.change(id, change, authorOf(request)));
    },
  });
  addRoute(server, "DELETE /api/v1/silences/:id", {
    access: "operate",
    says: "Ends a silence",
    handle: async ({ request, params: { id } }) => {
      if (!(await silences.expire(id, authorOf(request))))
        throw new FlatlineError("not_found", "no such silence, or it has ended already");
    },
  });
}

/** Parses a body of `POST /api/v1/silences`. @throws FlatlineError invalid_data */
export function readSilence(body: unknown, nowMs: number, known: readonly CheckName[]): NewSilence {
  return silenceOf(readInput(newSilenceSchema, body), nowMs, known);
}

function silenceOf(wanted: z.output<typeof newSilenceSchema>, nowMs: number, known: readonly CheckName[]): NewSilence {
  const { slug, check = null, startsAt = nowMs, endsAt, comment } = wanted;
  // A pattern may be for checks that do not exist yet.
  if (check !== null && literalOf(check) !== null && !known.includes(check)) throw malformed(["check: no such check"]);
  if (endsAt <= startsAt) throw malformed(["endsAt: is not after startsAt"]);
  if (endsAt <= nowMs) throw malformed(["endsAt: has passed"]);
  // A silence cannot begin in the past, as in Alertmanager: nothing was silenced then.
  return { slug, check, startsAtMs: Math.max(startsAt, nowMs), endsAtMs: endsAt, comment };
}

/** Returns a silence as the API shows it; a recurring one has a schedule and no start or end. */
function viewSilence({ rule, ...silence }: ListedSilence): RowOf<typeof silenceSchema> {
  const { slug = null, check = null, labels = {}, comment } = rule;
  const said = { ...silence, slug, check, labels, comment, isActive: silence.state === "active" };
  if (rule.kind === "fixed") return { ...said, startsAtMs: rule.startsAtMs, endsAtMs: rule.endsAtMs };
  const { schedule, timezone, durationMs } = rule;
  return { ...said, startsAtMs: null, endsAtMs: null, schedule, timezone, duration: formatDuration(durationMs) };
}
